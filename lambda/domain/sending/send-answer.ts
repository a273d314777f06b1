/** What SES made of a call, or what is known of it. Codes are safe to store and to log: they never hold text of SES. */
export type SendAnswer =
  | { readonly kind: 'accepted'; readonly messageId: string }
  /** The rate of the account: nobody judged this mail. */
  | { readonly kind: 'throttled'; readonly code: string }
  /** Trouble of the whole account, identity or configuration: every mail would meet it. */
  | { readonly kind: 'account'; readonly code: string }
  /** The credentials of this environment were refused: the mail was not looked at, and other environments may send. */
  | { readonly kind: 'credentials'; readonly code: string }
  /** SES did not take it and may later. */
  | { readonly kind: 'transient'; readonly code: string }
  /** SES may have taken it. `answered`: SES itself said that it failed; otherwise its answer was lost. */
  | { readonly kind: 'unclear'; readonly code: string; readonly answered?: boolean }
  /** SES will never take this mail. */
  | { readonly kind: 'permanent'; readonly code: string };
