import * as z from 'zod';

import { Problem } from '../../../lambda/contracts/http/problem.ts';
import { Envelope, recipientSchema } from '../../../lambda/contracts/http/request/dispatch-request.ts';
import { DispatchesView } from '../../../lambda/contracts/http/request/dispatches-query.ts';
import { RetriedView, RetryRequest } from '../../../lambda/contracts/http/request/retry.ts';
import { SettledView, SettleManyRequest, SettleRequest } from '../../../lambda/contracts/http/request/settle.ts';
import { CommandView } from '../../../lambda/contracts/http/response/command-view.ts';
import {
  AcceptedView,
  DispatchNowView,
  RecipientsView,
  RecipientView,
} from '../../../lambda/contracts/http/response/dispatch-view.ts';
import { ExportRequest, ExportView } from '../../../lambda/contracts/http/response/export-view.ts';
import { PreviewView } from '../../../lambda/contracts/http/response/preview-view.ts';
import { SendingRequest, SendingView } from '../../../lambda/contracts/http/response/sending.ts';

/** A JSON Schema, as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** What a client sends, or gets: a transform's input is no concern of who reads the answer. */
export const toJsonSchema = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    // Says the same as the format, and what every reader of JSON knows.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  if ($schema !== DIALECT) throw new Error(`OpenAPI 3.1 speaks ${DIALECT}`);
  return rest;
};

const Properties = z.looseObject({ properties: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** Variables are checked by hand, as the schema says nothing of sizes and depths. */
const withVariables = (schema: JsonSchema, more: JsonSchema = {}): JsonSchema => {
  const { properties, ...rest } = Properties.parse(schema);
  return {
    ...rest,
    properties: { ...properties, variables: { type: 'object', description: 'Values for the placeholders' }, ...more },
  };
};

const dispatchRequest = (): JsonSchema => {
  const recipient = withVariables(
    toJsonSchema(
      recipientSchema((address) => ({ ok: true, address })),
      'input',
    ),
  );
  const envelope = toJsonSchema(Envelope, 'input');
  const { recipients = {} } = Properties.parse(envelope).properties;
  return withVariables(envelope, { recipients: { ...recipients, items: recipient } });
};

const REQUESTS = { ExportRequest, RetryRequest, SettleRequest, SettleManyRequest, SendingRequest };
const ANSWERS = {
  AcceptedDispatch: AcceptedView,
  Preview: PreviewView,
  Dispatch: DispatchNowView,
  Dispatches: DispatchesView,
  Recipient: RecipientView,
  Recipients: RecipientsView,
  DispatchCommand: CommandView,
  RetriedRecipients: RetriedView,
  SettledRecipients: SettledView,
  Export: ExportView,
  Sending: SendingView,
  Problem,
};

/** Names of schemas that operations refer to. */
export type SchemaName = keyof typeof REQUESTS | keyof typeof ANSWERS | 'DispatchRequest';

/** All schemas by name: those that validate requests, and those that answers are built by. */
export const schemas = (): Readonly<Record<string, JsonSchema>> => ({
  DispatchRequest: dispatchRequest(),
  ...Object.fromEntries(Object.entries(REQUESTS).map(([name, schema]) => [name, toJsonSchema(schema, 'input')])),
  ...Object.fromEntries(Object.entries(ANSWERS).map(([name, schema]) => [name, toJsonSchema(schema, 'output')])),
});
