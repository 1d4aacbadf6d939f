import { ALLOW, type Answer, type Asked, UNKNOWN } from './screening.ts'

type HttpOptions = {
  name: string
  onUnknown: Asked['onUnknown']
  /** Posts a JSON body to the service, and returns the text of its answer. Throws without one. */
  post(body: string): Promise<string>
}

/** Asks a service of the operator's choice. See docs/operations/screening.md#a-service-of-your-own. */
export function createHttpSource({ name, onUnknown, post }: HttpOptions): Asked {
  return {
    name,
    onUnknown,
    keyOf: ({ address, chainId, role }) => `${chainId} ${role} ${address}`,
    ask: async ({ address, chainId, role }) =>
      toAnswer(name, await post(JSON.stringify({ address, chainId, role }))),
  }
}

/** Any other decision is unknown. Throws if the text is no JSON object: that says nothing about an address. */
export function toAnswer(list: string, text: string): Answer {
  const parsed = parse(text)
  if (parsed['decision'] === 'allow') return ALLOW
  if (parsed['decision'] !== 'deny') return UNKNOWN
  const textOf = (value: unknown, fallback: string) => (typeof value === 'string' ? value : fallback)
  return {
    kind: 'deny',
    reason: textOf(parsed['reason'], 'denied'),
    list: textOf(parsed['list'], list),
    version: textOf(parsed['version'], ''),
  }
}

function parse(text: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
    return parsed as Record<string, unknown>
  throw new Error('The answer is no JSON object')
}

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
