/** What CloudWatch shows of the widget where it is made; the first block of YAML is filled in as its parameters. */
export const DOCUMENTATION = `## Mail dispatch: operations

Shows whether mails are sent, which dispatches are in trouble, and the story of one dispatch or of one of its recipients. It reads only: nothing can be changed here.

Addresses of recipients and of those who act are masked; what mails say is not read. The ids \`applyId\` and \`recruitId\` are shown as they were given.

### Parameters

Both may be left out: then the widget begins with the overview.

| name | what |
|---|---|
| \`dispatchId\` | begin with the story of this dispatch |
| \`applyId\` | and of this recipient of it |

### Example parameters

\`\`\`yaml
dispatchId: ""
applyId: ""
\`\`\`
`;
