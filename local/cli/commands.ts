import { relative } from 'node:path';

import { ROOT } from '../settings.ts';
import type { StackFile } from '../stack-file.ts';

/** What is printed when the stack is up: where everything is, and three commands to paste. */
export const describeStack = ({ api, inbox, ses, tokens }: StackFile, directory: string): string => {
  const shown = relative(process.cwd(), directory) || '.';
  const samples = relative(process.cwd(), `${ROOT}/local/samples`);
  const send = (sample: string, key: string) =>
    [
      `  ANSWER=$(curl -sS ${api}/dispatches -H "Authorization: Bearer $TOKEN" \\`,
      `    -H 'Content-Type: application/json' -H 'Idempotency-Key: ${key}'"-$(date +%s)" \\`,
      `    --data @${samples}/${sample}); echo "$ANSWER"`,
    ].join('\n');
  return `
The local stack is up.

  API      ${api}
  Inbox    ${inbox}      <- open this in a browser
  Status   ${api}/ops  <- and this: problems and their causes, details of a recipient, queues, dead letters
  SES      ${ses}      faults: POST /_gate/faults, events: POST /_gate/events, accepted emails: GET /_gate/journal
           Faults and events by address, with any +label: throttle@, reset-after-accept@, slow@ ...,
           bounce@, complaint@, suppressed@, reject@ ... at simulator.localhost
  Data     ${shown}      logs of the functions in ${shown}/logs; more addresses and tokens in ${shown}/stack.json

Tokens, valid for 12 hours. The commands below use the admin's; the operator's works on the dispatches of all admins
and pauses sending (PUT ${api}/sending):

  TOKEN=${tokens.admin}
  OPERATOR_TOKEN=${tokens.operator}

Send 3 emails:

${send('three.json', 'three')}

Send 200 emails:

${send('two-hundred.json', 'two-hundred')}

Show the state of the last dispatch and of its recipients:

  ID=$(echo "$ANSWER" | sed -E 's/.*"id": *"([^"]+)".*/\\1/')
  curl -sS ${api}/dispatches/$ID -H "Authorization: Bearer $TOKEN"; echo
  curl -sS "${api}/dispatches/$ID/recipients?limit=200" -H "Authorization: Bearer $TOKEN"; echo

Queues are in memory: after a restart they are empty and the table refills them; dead letters are not kept.
The table and stored objects are files: they survive a restart and a kill.
Dead letters go back to their queues with npm run redrive.
Ctrl-C stops everything; what is in ${shown} stays.
`;
};
