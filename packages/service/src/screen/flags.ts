import { type Asked, UNKNOWN } from './screening.ts'

/**
 * Functions of contracts that answer whether an address is listed: of sanctions oracles as Chainalysis deploys them, of
 * USDC, of USDT on Ethereum by two names, and of later deployments of USDT.
 */
type FlagName = 'isSanctioned' | 'isBlacklisted' | 'isBlackListed' | 'getBlackListStatus' | 'isBlocked'

type FlagOptions = {
  name: string
  onUnknown: Asked['onUnknown']
  chainId: number
  contract: string
  flag: FlagName
  /** The chains whose addresses it covers. */
  covers(chainId: number): boolean
  /** Undefined if the contract gives no plain answer. Throws if the node is silent. */
  readFlag(flag: FlagName, contract: string, address: string): Promise<boolean | undefined>
}

/** Asks a contract. Its list has no version: it is the chain's. */
export function createFlagSource({
  name,
  onUnknown,
  chainId,
  contract,
  flag,
  covers,
  readFlag,
}: FlagOptions): Asked {
  const denial = { kind: 'deny', reason: flag, list: name, version: `chain ${chainId}` } as const
  return {
    name,
    onUnknown,
    keyOf: (party) => (covers(party.chainId) ? party.address : undefined),
    async ask({ address }) {
      const isListed = await readFlag(flag, contract, address)
      if (isListed === undefined) return UNKNOWN
      return isListed ? denial : { kind: 'allow' }
    },
  }
}
