/** Sections of docs/runbook.md, one for each alarm, by the anchor of their heading. */
export const RUNBOOK_SECTIONS = [
  'send-dead-letters',
  'task-dead-letters',
  'feedback-dead-letters',
  'sending-paused',
  'dispatch-stopped',
  'outcome-unknown',
  'feedback-silent',
] as const;

export type RunbookSection = (typeof RUNBOOK_SECTIONS)[number];

/** Where the section is found in this repository. */
export const runbookPath = (section: RunbookSection): string => `docs/runbook.md#${section}`;
