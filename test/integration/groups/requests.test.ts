import { describeGroup } from './describe-group.ts';
import { MEMBERS } from './members.ts';

describeGroup(MEMBERS.requests);
