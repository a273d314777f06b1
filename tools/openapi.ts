// `npm run openapi`: writes docs/openapi.json anew.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { format, resolveConfig } from 'prettier';

import { openApiDocument } from '../local/http-api/openapi/document.ts';
import { ROOT } from '../local/settings.ts';

const file = join(ROOT, 'docs/openapi.json');
const options = await resolveConfig(file);
writeFileSync(file, await format(JSON.stringify(openApiDocument()), { ...options, parser: 'json' }));
