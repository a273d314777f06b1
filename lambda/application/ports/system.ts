import type { Instant } from '../../domain/shared/instant.ts';

/** The time now; passed in so that tests own it. */
export type Clock = () => Instant;

/** From 0 up to 1. */
export type Random = () => number;

/** A random id, unique for ever. */
export type NewId = () => string;

export type Sleep = (ms: number) => Promise<void>;
