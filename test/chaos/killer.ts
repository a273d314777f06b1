import type { LaunchedStack } from '../../local/cli/launch.ts';

/** What kills, and how often it did. */
export interface Killer {
  readonly kills: () => number;
  readonly stop: () => void;
}

/** kill -9 of a process of any function, chosen by the draw, every few seconds. */
export const startKiller = (stack: () => LaunchedStack | undefined, everySeconds: number, draw: () => number): Killer => {
  let kills = 0;
  const strike = () => {
    const processes = stack()?.processes() ?? [];
    const chosen = processes[Math.floor(draw() * processes.length)];
    if (chosen === undefined) return;
    try {
      process.kill(chosen.pid, 'SIGKILL');
      kills += 1;
    } catch {
      // It had ended by itself.
    }
  };
  const timer = setInterval(strike, everySeconds * 1000);
  return {
    kills: () => kills,
    stop: () => {
      clearInterval(timer);
    },
  };
};
