import js from '@eslint/js';
import sortImports from 'eslint-plugin-simple-import-sort';
import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['node_modules', 'cdk.out', '.local', 'coverage', 'reports'] },
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js', 'tools/*.cjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
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
    files: [
      'lambda/**/*.ts',
      'lib/**/*.ts',
      'bin/**/*.ts',
      'local/**/*.ts',
      'tools/**/*.ts',
      'bench/**/*.ts',
      'tools/**/*.ts',
      'bench/**/*.ts',
    ],
    rules: { '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }] },
  },
  {
    // What the local stack, tools and harnesses say, they say to a person at a terminal.
    files: [
      'local/**/*.ts',
      'tools/**/*.{ts,cjs}',
      'bench/**/*.ts',
      'test/chaos/**/*.ts',
      'test/leak-scan/*.ts',
      'test/dynamodb-local.ts',
    ],
    rules: { 'no-console': 'off' },
  },
  { files: ['eslint.config.js', 'tools/*.cjs'], extends: [ts.configs.disableTypeChecked] },
  {
    // Any Node must be able to read these files, so they are old CommonJS.
    files: ['tools/*.cjs'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: { require: 'readonly', module: 'readonly', process: 'readonly', console: 'readonly' },
    },
    rules: { 'no-var': 'off', 'object-shorthand': 'off', '@typescript-eslint/no-require-imports': 'off' },
  },
);
