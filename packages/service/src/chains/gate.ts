import { ServiceError } from '../errors.ts'
import type { SignedInput } from '../swap/swap.ts'
import type { InputBuilder, OriginWays } from './chain.ts'
import type { ConnectedChain, Gate, Ungated } from './family.ts'

type Named = { chainId: number; name: string }

/** The chain with a gate. `asksNobody`: whether no node is needed to check the signature of an input. */
export function withGate<C extends Ungated['config']>(
  connected: Ungated<C>,
  asksNobody: (input: SignedInput) => boolean,
): Omit<ConnectedChain<C>, 'family'> {
  const { config, chain, builder } = connected
  const gate = { isOpen: true }
  const { readTokenBalance } = guarded(connected, gate, config)
  const ways = chain.ways && guardedWays(chain.ways, asksNobody, guarded(chain.ways, gate, config))
  return {
    ...connected,
    readTokenBalance,
    gate,
    chain: guarded({ ...chain, ways }, gate, config),
    builder: builder && guardedBuilder(builder, gate, config),
  }
}

/** A signature that no node is needed for is checked while the chain is closed: the lane checks before it locks. */
function guardedWays(
  ways: OriginWays,
  asksNobody: (input: SignedInput) => boolean,
  behindGate: OriginWays,
): OriginWays {
  return {
    ...behindGate,
    isInputSigned: (input, signature) =>
      (asksNobody(input) ? ways : behindGate).isInputSigned(input, signature),
  }
}

/** Checks a signed input without a node, so that a repeated submission is answered while the chain is closed. */
function guardedBuilder(builder: InputBuilder, gate: Gate, named: Named): InputBuilder {
  const { readPayer, build, offer, readPaid } = guarded(builder, gate, named)
  return { readPayer, build, offer, readPaid, check: (signed) => builder.check(signed) }
}

/** A proxy whose methods throw 503 while the gate is closed. */
export function guarded<T extends object>(target: T, gate: Gate, { chainId, name }: Named): T {
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
