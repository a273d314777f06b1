import { createServer } from 'node:net';

import { expect, it } from 'vitest';

import { listen, PortTakenError } from '../../../local/ports.ts';
import { readSettings } from '../../../local/settings.ts';

it('has defaults for everything, and takes an empty variable for none', () => {
  expect(readSettings({ LOCAL_API_PORT: '' }).ports.api).toEqual({ variable: 'LOCAL_API_PORT', port: 3000 });
});

it('names every bad variable at once', () => {
  expect(() => readSettings({ LOCAL_API_PORT: 'x', LOCAL_SES_RATE: '-1' })).toThrow(/LOCAL_API_PORT.*LOCAL_SES_RATE/);
});

it('tells which port is taken, and by which variable it can be changed', async () => {
  const holder = createServer();
  const port = await listen(holder, { variable: 'none', port: 0 });
  const second = listen(createServer(), { variable: 'LOCAL_API_PORT', port });
  await expect(second).rejects.toThrow(PortTakenError);
  await expect(second).rejects.toThrow(`Port ${port} is taken. Stop what uses it, or set LOCAL_API_PORT`);
  holder.close();
});
