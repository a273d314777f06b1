'use strict';
// npm runs this file before each script that needs TypeScript. CommonJS and old syntax: any Node must be able to read it.

/**
 * What to do about a Node that cannot run this project; undefined if it can.
 * @param {{ version: string, typescript: unknown }} node version without the leading v, and process.features.typescript
 */
function explainNode(node) {
  var parts = node.version.split('.').map(Number);
  var isNewEnough = parts[0] > 22 || (parts[0] === 22 && parts[1] >= 18);
  if (isNewEnough && node.typescript) return undefined;
  return (
    'Node ' +
    node.version +
    ' cannot run this project: it needs Node 22.18 or later, with type stripping on.\n' +
    'npm ci installs Node 24 in node_modules/.bin, unless it is run with --ignore-scripts. To install it now:\n\n' +
    '  npm rebuild node --ignore-scripts=false\n'
  );
}

module.exports = { explainNode: explainNode };

if (require.main === module) {
  var problem = explainNode({ version: process.versions.node, typescript: process.features.typescript });
  if (problem !== undefined) {
    console.error(problem);
    process.exit(1);
  }
}
