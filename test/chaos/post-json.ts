/** One call of a stack's own controls, such as its SES gate's. @returns the JSON of the answer */
export const postJson = async (address: string, method: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(address, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${new URL(address).pathname} was answered ${response.status}: ${text}`);
  const answer: unknown = JSON.parse(text);
  return answer;
};
