import { it } from 'vitest';

import { describeGroup } from './describe-group.ts';
import { otherFiles } from './members.ts';

const files = otherFiles();

describeGroup(files);
it.skipIf(files.length > 0)('there are no others', () => undefined);
