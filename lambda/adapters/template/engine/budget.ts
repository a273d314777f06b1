import { RenderFault } from './render-fault.ts';

/** How much one mail may cost: counts alone, so that a mail is refused or not on every machine alike. */
export interface RenderLimits {
  /** Of subject, HTML, text and unsubscribe URL together, in UTF-8. */
  readonly mailBytes: number;
  /** Statements executed; each iteration, section and partial call executes its own. */
  readonly steps: number;
  /** Blocks and partials inside one another at the same time. */
  readonly depth: number;
}

const STEPS = 100_000;
const DEPTH = 200;

/** The limits of a stage whose mails may have so many bytes. */
export const renderLimits = (mailBytes: number): RenderLimits => ({ mailBytes, steps: STEPS, depth: DEPTH });

/** What is left for one mail. Every method throws a {@link RenderFault} as soon as a limit is exceeded. */
export class Budget {
  readonly #limits: RenderLimits;
  #bytes = 0;
  #steps = 0;
  #depth = 0;

  constructor(limits: RenderLimits) {
    this.#limits = limits;
  }

  /** Counts work before it is done. */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > this.#limits.steps) throw new RenderFault('too-many-steps', { limit: this.#limits.steps });
  }

  /** Counts output before it is kept. */
  output(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#limits.mailBytes) throw new RenderFault('mail-too-large', { limit: this.#limits.mailBytes });
  }

  enter(): void {
    this.#depth += 1;
    if (this.#depth > this.#limits.depth) throw new RenderFault('nested-too-deep', { limit: this.#limits.depth });
  }

  leave(): void {
    this.#depth -= 1;
  }
}
