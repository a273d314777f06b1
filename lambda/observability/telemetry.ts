import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';

/** What a function tells the people who run it. Nothing in it can fail the work it speaks of. */
export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Adds to a metric; the name comes from a fixed list of the caller, never from data. */
  readonly count: (name: string, by?: number) => void;
}

/**
 * One per function; service and namespace come from the POWERTOOLS_ variables.
 * @param stage dimension of every metric: stages of one account have no metric in common
 */
export const createTelemetry = (stage: string): Telemetry => {
  const logger = new Logger();
  const metrics = new Metrics({ defaultDimensions: { Stage: stage } });
  return {
    logger,
    metrics,
    count: (name, by = 1) => {
      metrics.addMetric(name, MetricUnit.Count, by);
    },
  };
};

/** Wraps an observer so that its trouble never reaches the work. */
export const neverThrow =
  <T>(observe: (signal: T) => void): ((signal: T) => void) =>
  (signal) => {
    try {
      observe(signal);
    } catch {
      // Metrics and logs are merely nice; a mail that went out stays sent.
    }
  };
