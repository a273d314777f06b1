/** Whether an optional part of a parsed template is there; the types of Handlebars do not say which ones are optional. */
export const isGiven = (node: hbs.AST.Node | undefined): node is hbs.AST.Node => node !== undefined;

/** The pairs `name=value` of a tag; undefined: there are none. */
export const pairsOf = (hash: hbs.AST.Hash | undefined): readonly hbs.AST.HashPair[] | undefined => hash?.pairs;

/** The names after `as` of a block. */
export const blockParamsOf = (program: { readonly blockParams?: readonly string[] } | undefined): readonly string[] =>
  program?.blockParams ?? [];
