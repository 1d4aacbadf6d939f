import { type CodeReads, type NamedContracts, readsOf, verifyDeployment } from './checks/deployment.ts'
import type { KnownContracts, OriginContracts } from './checks/terms.ts'
import { SwapRefusedError, TamperedOperationError } from './errors.ts'
import type { Family } from './families/family.ts'

/**
 * Deployments that ship with the package, by chain. Empty, since nothing is deployed on a public chain yet:
 * the caller names the contracts, or a node to read them from.
 */
const DEPLOYMENTS: Readonly<Record<number, KnownContracts>> = {}

/** Stores verified contracts by chain, so that they are verified once and cannot change later. */
export type PinStore = {
  get(chainId: number): KnownContracts | undefined | Promise<KnownContracts | undefined>
  set(chainId: number, contracts: KnownContracts): void | Promise<void>
}

type Sources = {
  contracts: Readonly<Record<number, KnownContracts>>
  rpcUrls: Readonly<Record<number, string>>
  store?: PinStore | undefined
  connect?: (rpcUrl: string) => CodeReads
}

export type Pins = ReturnType<typeof createPins>

/**
 * The contracts a wallet signs for: those of the caller, then those of the package, then those verified
 * earlier.
 */
export function createPins({ contracts, rpcUrls, store, connect = readsOf }: Sources) {
  const verified = new Map<number, KnownContracts>()

  async function known(chainId: number): Promise<KnownContracts> {
    const kept = verified.get(chainId) ?? (await store?.get(chainId))
    return { ...kept, ...DEPLOYMENTS[chainId], ...contracts[chainId] }
  }

  async function verify(chainId: number, rpcUrl: string, named: NamedContracts): Promise<KnownContracts> {
    const found = await verifyDeployment(connect(rpcUrl), chainId, named).catch((cause: unknown) => {
      if (cause instanceof TamperedOperationError || cause instanceof SwapRefusedError) throw cause
      const message = `The contracts on chain ${chainId} cannot be verified: its node does not answer.`
      throw new SwapRefusedError('UNPINNED', message, { cause })
    })
    verified.set(chainId, found)
    await store?.set(chainId, found)
    return found
  }

  return {
    known,

    /** Throws if the contracts of the chain cannot be verified, before the service is called. */
    async assertKnowable(chainId: number, family: Family): Promise<void> {
      const isReadable = family.isVerifiable && rpcUrls[chainId] !== undefined
      if (!isReadable && !isComplete(family, await known(chainId))) throw unpinned(chainId, family)
    },

    /** The contracts of the origin chain. If they are not known, `named` is verified on the chain. */
    async origin(chainId: number, family: Family, named: NamedContracts): Promise<OriginContracts> {
      const own = await known(chainId)
      if (isComplete(family, own)) return own
      const rpcUrl = rpcUrls[chainId]
      if (!family.isVerifiable || rpcUrl === undefined) throw unpinned(chainId, family)
      const found = { ...(await verify(chainId, rpcUrl, { ...named, ...own })), ...own }
      if (!isComplete(family, found)) throw unpinned(chainId, family)
      return found
    },
  }
}

function isComplete(family: Family, known: KnownContracts): known is OriginContracts {
  return family.isComplete(known)
}

function unpinned(chainId: number, family: Family): SwapRefusedError {
  return new SwapRefusedError('UNPINNED', family.whatIsMissing(chainId))
}
