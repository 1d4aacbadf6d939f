import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Network, ServiceConfig } from '@geoswap/devnet'
import { address } from '@solana/kit'
import { type Address, erc20Abi, zeroAddress } from 'viem'
import type { SolanaWorld } from '../solana-world.ts'
import type { World } from '../world.ts'
import { amountOf, type Party, sideOf } from './clients/scene.ts'
import type { Purses } from './crowd/purses.ts'
import { STOLEN_ATTESTER } from './nemesis.ts'
import type { EvmChainName } from './plan.ts'
import { isSent } from './sent.ts'

type Baseline = {
  dir: string
  network: Network
  world: World
  solana: SolanaWorld
  deadlines: object
  exposureCapUsd: number
  chainNames: readonly EvmChainName[]
  purses?: Purses
  config(file: ServiceConfig): object
}

/** The facts about the run that the checker needs, besides its events. */
export async function writeBaseline(run: Baseline, parties: readonly Party[]): Promise<void> {
  const { local, home, databaseUrl, databaseUrls, keys } = run.network
  const config: ServiceConfig = JSON.parse(readFileSync(join(home, 'service.json'), 'utf8'))
  const { apiKey: _, ...open } = local
  const setup = {
    ...{ databaseUrl, local: open, config: run.config(config), logs: join(home, 'logs') },
    ...{
      secrets: [...secretsOf(keys), ...Object.values(databaseUrls)],
      deadlines: run.deadlines,
      exposureCapCents: run.exposureCapUsd * 100,
    },
    holdings: await readHoldings(run),
    feePayers: await readFeePayers(run),
    stolenLogin: new URL(databaseUrls.attesters[STOLEN_ATTESTER] ?? '').username,
    parties: parties.map(toFacts),
    purses: pursesOf(run),
  }
  writeFileSync(setupOf(run), JSON.stringify(setup), { mode: 0o600 })
}

const setupOf = ({ dir }: Pick<Baseline, 'dir'>) => join(dir, 'setup.json')

const toFacts = ({ plan, wallet, recipient, payer }: Party) => ({
  ...{ id: plan.id, wallet: wallet.address, recipient, behaviour: plan.behaviour },
  ...{ from: plan.from, to: plan.to, sell: plan.sell, method: plan.method },
  held: isSent(plan.method) ? '0' : `${amountOf(plan)}`,
  pace: plan.pace,
  isStranger: plan.behaviour === 'stranger',
  ...(payer && { payer, paid: `${2n * amountOf(plan)}` }),
})

/** The money of strangers beside that of their swaps. */
function pursesOf({ purses, chainNames }: Baseline): object[] {
  if (!purses) return []
  const onEvm = chainNames.map((chain) => ({ chain, ...purses.of(chain) }))
  const onSolana = { chain: 'solana', address: purses.solana.address, held: purses.solanaHeld }
  return [...onEvm, onSolana].map(({ chain, address, held }) => ({ chain, address, held: `${held}` }))
}

type Added = Pick<Baseline, 'dir' | 'world' | 'solana'>

/** Clients that came later hold newly minted tokens: the supply was larger by these from the start. */
export function addToBaseline(run: Added, parties: readonly Party[]): void {
  const setup: { parties: object[]; holdings: Holding[] } = JSON.parse(readFileSync(setupOf(run), 'utf8'))
  setup.parties.push(...parties.map(toFacts))
  for (const { plan, payer } of parties) {
    if (plan.sell === 'ETH') continue
    const { chainId, token } = sideOf(run, plan.from)
    const held = setup.holdings.find((each) => each.chainId === chainId && each.token === token(plan.sell))
    if (held) held.supply = `${BigInt(held.supply) + (payer ? 2n : 1n) * amountOf(plan)}`
  }
  writeFileSync(setupOf(run), JSON.stringify(setup), { mode: 0o600 })
}

type Holding = { chainId: number; token: string; inventory: string; supply: string }

/** For each token: the operator's holdings, and the supply. */
async function readHoldings({ world, solana, network }: Baseline): Promise<Holding[]> {
  const tokensOf = (chainId: number) =>
    network.local.chains
      .find((chain) => chain.chainId === chainId)
      ?.tokens.map((token) => token.address)
      .filter((token) => token !== zeroAddress && token !== '11111111111111111111111111111111') ?? []
  const evm = world.chains.map(({ chainId, client, contracts }) =>
    tokensOf(chainId).map(async (token) => {
      const of = { address: token as Address, abi: erc20Abi } as const
      const inventory = client.readContract({ ...of, functionName: 'balanceOf', args: [contracts.vault] })
      const supply = client.readContract({ ...of, functionName: 'totalSupply' })
      return { chainId, token, inventory: `${await inventory}`, supply: `${await supply}` }
    }),
  )
  const onSolana = tokensOf(solana.chainId).map(async (token) => {
    const { value } = await solana.rpc.getTokenSupply(address(token), { commitment: 'confirmed' }).send()
    const inventory = await solana.balanceOf(solana.vault, token)
    return { chainId: solana.chainId, token, inventory: `${inventory}`, supply: value.amount as string }
  })
  return Promise.all([...evm.flat(), ...onSolana])
}

/** The lamports of the accounts that pay on Solana. */
async function readFeePayers({ solana, network }: Baseline): Promise<Record<string, string>> {
  const { input, delivery } = network.keys.solana.feePayers
  const held = [input, delivery].map(async ({ address: payer }) => {
    const { value } = await solana.rpc.getBalance(payer, { commitment: 'finalized' }).send()
    return [payer, `${value}`] as const
  })
  return Object.fromEntries(await Promise.all(held))
}

/** Secrets that must never be in a log. */
function secretsOf(keys: Network['keys']): string[] {
  const found: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [name, field] of Object.entries(value)) {
        if (['privateKey', 'seed', 'seal'].includes(name) && typeof field === 'string') found.push(field)
        else collect(field)
      }
    }
  }
  collect(keys)
  return found.map((text) => text.replace(/^0x|^[\w]+:/, ''))
}
