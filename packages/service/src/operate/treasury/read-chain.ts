import { CONTRACT_CODE, geoEscrowAbi, geoVaultAbi, isCodeOf } from '@geoswap/protocol'
import { type Address, getAddress, type PublicClient, parseUnits, zeroAddress } from 'viem'
import { readAttesterSets, readProposedSet } from '../../chains/evm/attesters.ts'
import { createEvmClients } from '../../chains/evm/client.ts'
import { toAttesterSet, toContracts } from '../../chains/evm/connect.ts'
import { readBalance } from '../../chains/evm/reads.ts'
import { findConductFault } from '../../chains/evm/tokens.ts'
import { readDecimals } from '../../chains/evm/verify.ts'
import { judgeTreasury, readCodeHash } from '../../chains/evm/verify-code.ts'
import { describeError, UsageError } from '../../command.ts'
import { COMMAND_PATIENCE_MS } from '../../compose/chains.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'
import { buyingVenues } from '../../venues/registry.ts'
import { withContracts } from '../family.ts'
import { planTreasury, type TokenState, type TreasuryPlan, type TreasuryState, type Wanted } from './plan.ts'

/** Wishes of one run: addresses to revoke, and stocks by token, in whole coins. */
export type Wishes = { revoked: readonly Address[]; stocks: ReadonlyMap<Address, string> }
const NO_WISHES: Wishes = { revoked: [], stocks: new Map() }

export type ChainPlan = TreasuryPlan & { chain: EvmChainConfig }
type Asked = { network: NetworkConfig; chain: EvmChainConfig; wishes?: Wishes }

/** Reads the chain and plans what its treasury has to do. Throws if the contracts do not exist. */
export async function planChain(client: PublicClient, asked: Asked): Promise<ChainPlan> {
  await requireContracts(client, asked.chain)
  const wanted = await toWanted(client, asked)
  const state = await readState(client, wanted, asked.network.treasury as Address | undefined)
  return { chain: asked.chain, ...planTreasury(wanted, state) }
}

async function requireContracts(client: PublicClient, chain: EvmChainConfig): Promise<void> {
  const contracts = toContracts(chain)
  for (const name of ['vault', 'escrow'] as const) {
    const code = (await client.getCode({ address: contracts[name] })) ?? '0x'
    if (isCodeOf(code, CONTRACT_CODE[name])) continue
    const what = code === '0x' ? `there is no ${name} contract` : `another contract than the ${name} exists`
    throw new UsageError(`${chain.name}: ${what} at ${contracts[name]}. Run service deploy first.`)
  }
}

async function toWanted(
  client: PublicClient,
  { network, chain, wishes = NO_WISHES }: Asked,
): Promise<Wanted> {
  const { vault, escrow } = toContracts(chain)
  const tokens = await Promise.all(
    chain.tokens.map(async (token) => {
      const address = getAddress(token.address)
      return { ...token, address, decimals: await readDecimals(client, address) }
    }),
  )
  return {
    contracts: { vault, escrow },
    deliverers: network.deliverers.map((address) => getAddress(address)),
    adapters: [...new Set(buyingVenues(network, chain.chainId).map(({ adapter }) => adapter))],
    revoked: wishes.revoked,
    attesters: toAttesterSet(network.nextAttesters ?? network.attesters),
    guardian: network.guardian === undefined ? undefined : getAddress(network.guardian),
    refundsStopped: network.attestedRefundsStopped,
    tokens: [{ ...chain.native, address: zeroAddress, decimals: 18 }, ...tokens].map((token) => {
      const { address, symbol, decimals, capPerHour, claimCapPerHour, refundCapPerHour, plain } = {
        plain: undefined,
        ...token,
      }
      const inUnits = (coins: string | undefined) =>
        coins === undefined ? undefined : parseUnits(coins, decimals)
      return {
        address,
        symbol,
        decimals,
        cap: inUnits(capPerHour),
        claimCap: inUnits(claimCapPerHour),
        refundCap: inUnits(refundCapPerHour),
        isPlain: plain,
        stock: inUnits(wishes.stocks.get(address)),
      }
    }),
  }
}

async function readState(
  client: PublicClient,
  wanted: Wanted,
  owner: Address | undefined,
): Promise<TreasuryState> {
  const { contracts, deliverers, adapters, revoked, tokens } = wanted
  const vault = { address: contracts.vault, abi: geoVaultAbi } as const
  const escrow = { address: contracts.escrow, abi: geoEscrowAbi } as const
  const allowedBy = async (functionName: 'deliverers' | 'adapters', addresses: readonly Address[]) => {
    const asked = [...new Set(addresses)]
    const known = await Promise.all(
      asked.map((address) => client.readContract({ ...vault, functionName, args: [address] })),
    )
    return new Set(asked.filter((_, index) => known[index]))
  }
  const [{ timestamp }, sets, pending, refundsStopped, guardian, paying, buying, states] = await Promise.all([
    client.getBlock(),
    readAttesterSets(client, { escrow: contracts.escrow, from: 0 }),
    readProposedSet(client, { escrow: contracts.escrow }),
    client.readContract({ ...escrow, functionName: 'attestedRefundsStopped' }),
    client.readContract({ ...vault, functionName: 'guardian' }),
    allowedBy('deliverers', [...deliverers, ...revoked]),
    allowedBy('adapters', [...adapters, ...revoked]),
    Promise.all(tokens.map((token) => readToken(client, { ...contracts, owner }, token))),
  ])
  return {
    time: timestamp,
    attesters: sets.at(-1) ?? { members: [], threshold: 0, since: 0 },
    pending,
    refundsStopped,
    guardian,
    deliverers: paying,
    adapters: buying,
    tokens: new Map(tokens.map(({ address }, index) => [address, states[index] as TokenState])),
  }
}

async function readToken(
  client: PublicClient,
  { vault, escrow, owner }: Wanted['contracts'] & { owner: Address | undefined },
  { address: token, isPlain: wishedPlain }: Wanted['tokens'][number],
): Promise<TokenState> {
  const ofEscrow = { address: escrow, abi: geoEscrowAbi } as const
  const ofVault = { address: vault, abi: geoVaultAbi } as const
  const [[cap], [claimCap], [refundCap], isPlain, held, owned, credit] = await Promise.all([
    client.readContract({ ...ofVault, functionName: 'caps', args: [token] }),
    client.readContract({ ...ofEscrow, functionName: 'claimCaps', args: [token] }),
    client.readContract({ ...ofEscrow, functionName: 'refundCaps', args: [token] }),
    client.readContract({ ...ofVault, functionName: 'plainTokens', args: [token] }),
    readBalance(client, { owner: vault, token }),
    owner ? readBalance(client, { owner, token }) : 0n,
    client.readContract({ ...ofEscrow, functionName: 'credits', args: [vault, token] }),
  ])
  const listed = { token, vault, escrow, treasury: owner, isPlain: wishedPlain ?? isPlain }
  const fault = token === zeroAddress ? undefined : await findConductFault(client, listed)
  return { cap, claimCap, refundCap, isPlain, held, owned, credit, fault }
}

/** Throws before anything is deployed. */
export async function refuseLostTreasury(
  network: NetworkConfig,
  asked: readonly EvmChainConfig[],
): Promise<void> {
  const problem = await findTreasuryLost(network, asked)
  if (problem) throw new UsageError(`${problem}, or pass --accept-treasury. Nothing was sent.`)
}

/** Finds a treasury whose code differs between chains. Chains that are not asked for may be silent. */
export async function findTreasuryLost(
  network: NetworkConfig,
  asked: readonly EvmChainConfig[],
): Promise<string | undefined> {
  const { treasury } = network
  if (treasury === undefined) return undefined
  const address = getAddress(treasury)
  const seen = await Promise.all(
    withContracts(network.chains).map(async (chain) => {
      const { client } = createEvmClients({ urls: chain.rpcUrls, patienceMs: COMMAND_PATIENCE_MS })
      try {
        return { chain, code: await readCodeHash(client, address) }
      } catch (error) {
        if (asked.includes(chain)) throw new Error(`${chain.name}: ${describeError(error)}`, { cause: error })
        return { chain, code: undefined }
      }
    }),
  )
  return judgeTreasury(address, seen)
}
