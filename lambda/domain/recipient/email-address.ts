/** The form an address is sent to, or what keeps it from being one. */
export type AddressVerdict =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly fault: 'email-address' | 'email-local-part' | 'email-domain' | 'control-characters' };

/** Brings an address into the form that SES takes. */
export type NormaliseAddress = (text: string) => AddressVerdict;
