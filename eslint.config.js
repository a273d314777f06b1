import js from '@eslint/js';
import sortImports from 'eslint-plugin-simple-import-sort';
import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['node_modules', 'cdk.out', '.local', 'coverage', 'reports'] },
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['eslint.config.js'] }, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { 'simple-import-sort': sortImports },
    rules: {
      'simple-import-sort/imports': 'error',
      'simple-import-sort/exports': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    // A cast hides what a parser would have found; `as const` is no cast.
    files: ['lambda/**/*.ts', 'lib/**/*.ts', 'bin/**/*.ts', 'local/**/*.ts', 'tools/**/*.ts', 'bench/**/*.ts', 'tools/**/*.ts'],
    rules: { '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }] },
  },
  {
    // What the local stack and the tools say, they say to a person at a terminal.
    files: ['local/**/*.ts', 'tools/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  { files: ['eslint.config.js'], extends: [ts.configs.disableTypeChecked] },
);
