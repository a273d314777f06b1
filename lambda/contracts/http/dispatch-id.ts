/** Every id that was ever given out looks like this, so nothing else needs to be looked up. */
const DISPATCH_ID = /^[a-z2-7]{52}$/;

/** The dispatch that a request's path names; undefined if it names none. */
export const parseDispatchId = (pathParameters: Readonly<Record<string, string | undefined>> | undefined): string | undefined => {
  const dispatchId = pathParameters?.['dispatchId'];
  return dispatchId !== undefined && DISPATCH_ID.test(dispatchId) ? dispatchId : undefined;
};
