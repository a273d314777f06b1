/** Who may look. */
export const READERS: readonly string[] = ['mail:read', 'mail:operate'];

/** One's own dispatches may be changed by whoever may send them; which are whose, the function knows. */
export const SENDERS: readonly string[] = ['mail:send', 'mail:operate'];

/** Who may do what concerns everybody. */
export const OPERATORS: readonly string[] = ['mail:operate'];
