import * as z from 'zod';

const Part = z.object({ Data: z.string() });
const Addresses = z.array(z.string()).default([]);

/** The body of a SendEmail call, as far as this product uses it. */
export const SendEmailRequest = z.object({
  FromEmailAddress: z.string().min(1),
  Destination: z.object({ ToAddresses: Addresses, CcAddresses: Addresses, BccAddresses: Addresses }),
  ReplyToAddresses: Addresses,
  ConfigurationSetName: z.string().optional(),
  EmailTags: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
  Content: z.object({
    Simple: z.object({
      Subject: Part,
      Body: z.object({ Text: Part.optional(), Html: Part.optional() }),
      Headers: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
    }),
  }),
});
export type SendEmailRequest = z.output<typeof SendEmailRequest>;

/** A mail that was taken, one line of the journal. */
export const Mail = z.object({
  at: z.iso.datetime(),
  messageId: z.string(),
  to: z.array(z.string()),
  from: z.string(),
  replyTo: z.array(z.string()),
  subject: z.string(),
  tags: z.record(z.string(), z.string()),
  configurationSetName: z.string().optional(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.object({ html: z.string().optional(), text: z.string().optional() }),
});
export type Mail = z.output<typeof Mail>;

/** All that the mail is addressed to. */
export const recipientsOf = ({ Destination: { ToAddresses, CcAddresses, BccAddresses } }: SendEmailRequest): string[] => [
  ...ToAddresses,
  ...CcAddresses,
  ...BccAddresses,
];

/** The mail that a call asks to be sent. */
export const toMail = (request: SendEmailRequest, messageId: string, at: Date): Mail => {
  const { Subject, Body, Headers } = request.Content.Simple;
  return {
    at: at.toISOString(),
    messageId,
    to: recipientsOf(request),
    from: request.FromEmailAddress,
    replyTo: request.ReplyToAddresses,
    subject: Subject.Data,
    tags: Object.fromEntries(request.EmailTags.map(({ Name, Value }) => [Name, Value])),
    ...(request.ConfigurationSetName !== undefined && { configurationSetName: request.ConfigurationSetName }),
    headers: Headers.map(({ Name, Value }) => ({ name: Name, value: Value })),
    body: { ...(Body.Html && { html: Body.Html.Data }), ...(Body.Text && { text: Body.Text.Data }) },
  };
};

/** The address within `Name <address>`. */
export const bareAddress = (address: string): string => (/<([^<>]*)>\s*$/.exec(address)?.[1] ?? address).trim();
