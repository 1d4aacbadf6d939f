import { ServiceError } from '../errors.ts'

/** Whether a chain was verified against the configuration. Until then it is neither read nor acted on. */
export type Gate = { isOpen: boolean }

/** A proxy whose methods throw 503 while the gate is closed. */
export function guarded<T extends object>(
  target: T,
  gate: Gate,
  { chainId, name }: { chainId: number; name: string },
): T {
  const refuse = () => {
    throw new ServiceError('CHAIN_UNAVAILABLE', {
      message: `Chain ${name} does not answer. Try again in a few seconds.`,
      details: { chainId },
      recovery: { retryAfterMs: 2_000 },
    })
  }
  return new Proxy(target, {
    get(object, key) {
      const value: unknown = Reflect.get(object, key)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => (gate.isOpen ? Reflect.apply(value, object, args) : refuse())
    },
  })
}
