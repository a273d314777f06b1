/** A route of the API and what it leads to. */
export interface Route<T> {
  readonly key: string;
  readonly target: T;
}

/** The route that was found, with the values of its path's placeholders. */
export interface RouteMatch<T> {
  readonly route: Route<T>;
  readonly pathParameters: Readonly<Record<string, string>>;
}

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const matchPath = (pattern: string, path: string): Record<string, string> | undefined => {
  const wanted = pattern.split('/');
  const given = path.split('/');
  const parameters: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const greedy = /^\{(\w+)\+\}$/.exec(segment);
    if (greedy?.[1] !== undefined) {
      const rest = given.slice(index).join('/');
      if (rest === '') return undefined;
      return { ...parameters, [greedy[1]]: decode(rest) };
    }
    const value = given[index];
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (value === undefined || (name === undefined ? value !== segment : value === '')) return undefined;
    if (name !== undefined) parameters[name] = decode(value);
  }
  return given.length === wanted.length ? parameters : undefined;
};

/** Fewer placeholders first, greedy ones last, the catch-all at the very end: the order HTTP APIs choose by. */
const rank = (key: string): number => {
  if (key === '$default') return Infinity;
  const greedy = key.includes('+}') ? 1000 : 0;
  return greedy + key.split('{').length - 1 + (key.startsWith('ANY ') ? 0.5 : 0);
};

/** Finds the most specific route for a request. */
export const createRouter = <T>(routes: readonly Route<T>[]) => {
  const ordered = routes.toSorted((a, b) => rank(a.key) - rank(b.key));
  return (method: string, path: string): RouteMatch<T> | undefined => {
    for (const route of ordered) {
      if (route.key === '$default') return { route, pathParameters: {} };
      const [verb, pattern = ''] = route.key.split(' ');
      if (verb !== 'ANY' && verb !== method) continue;
      const pathParameters = matchPath(pattern, path);
      if (pathParameters) return { route, pathParameters };
    }
    return undefined;
  };
};
