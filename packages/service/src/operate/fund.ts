import { formatUnits } from 'viem'
import { type Env, type Output, parseFlags, toTable, UsageError } from '../command.ts'
import { connectForCommand } from '../compose/chains.ts'
import type { NetworkConfig } from '../config.ts'
import { about, missingOf } from '../swap/gas-funding.ts'
import { type ChainGas, readAllGas } from './checks.ts'
import { byFamily } from './families.ts'
import { type Funder, findPayer, type KeyGas, onEach } from './family.ts'
import { readChosen } from './served.ts'

export const FUND_HELP = `fund plan [--config FILE] [--swaps N]
      Shows the gas coin of every key that sends, what it should hold for its part of N swaps (default 300) at twice
      the current fees, and what is missing in all.
  service fund apply [--config FILE] [--swaps N]
      Sends what is missing from one key: GEOSWAP_DEPLOYER_KEY, or the deployer of GEOSWAP_KEYSTORE; on Solana
      GEOSWAP_SOLANA_DEPLOYER_KEY, or the solana-deployer. A key with more than half of its amount gets nothing, and
      a run that is repeated pays nobody twice.`

type Payment = KeyGas & { amount: bigint }
type ChainFunding = { chain: ChainGas['connected']; payments: readonly Payment[]; total: bigint }

export async function fund(args: string[], env: Env, output: Output): Promise<number> {
  const [command, ...rest] = args
  if (command !== 'plan' && command !== 'apply')
    throw new UsageError('Unknown command: use fund plan or fund apply. Try --help.')
  const { config, swaps } = parse(rest)
  const { network } = readChosen(env, config)
  const chains = connectForCommand(network)
  const fundings = (await readAllGas(network, chains, swaps)).map(toFunding)
  output.out(describe(fundings))
  if (command === 'apply') return send(env, { network, fundings }, output)
  for (const each of fundings) output.hint(`${each.chain.config.name}: ${describeTotal(each)}`)
  for (const { operate } of byFamily(network.chains)) {
    const funder = findPayer(env, operate.payer)
    if (funder) output.hint(`fund apply pays from ${funder}.`)
  }
  return 0
}

function toFunding({ connected, keys }: ChainGas): ChainFunding {
  const payments = keys.map((key) => ({ ...key, amount: missingOf(key) }))
  const total = payments.reduce((sum, { amount }) => sum + amount, 0n)
  return { chain: connected, payments, total }
}

function describe(fundings: readonly ChainFunding[]): string {
  const rows = fundings.flatMap(({ chain, payments }) => {
    const { decimals } = chain.nativeToken
    const { name, native } = chain.config
    return payments.map(({ role, address, balance, needs, amount }) => [
      name,
      role,
      address,
      formatUnits(balance, decimals),
      about(needs, decimals),
      amount === 0n ? '' : `${about(amount, decimals)} ${native.symbol}`,
    ])
  })
  return toTable([['CHAIN', 'ROLE', 'ADDRESS', 'HAS', 'NEEDS', 'SEND'], ...rows])
}

function describeTotal({ chain: { config, nativeToken }, total }: ChainFunding): string {
  if (total === 0n) return 'nothing to send'
  return `about ${about(total, nativeToken.decimals)} ${config.native.symbol} to send`
}

type Sent = { network: NetworkConfig; fundings: readonly ChainFunding[] }
type Paid = ChainFunding & { funder: Funder }

async function send(env: Env, { network, fundings }: Sent, output: Output): Promise<number> {
  const due = fundings.filter(({ total }) => total > 0n)
  const groups = byFamily(due.map(({ chain }) => chain.config))
  const opened = await Promise.all(
    groups.map(async ({ operate, chains }) => ({ chains, funder: await operate.payer.open(env, network) })),
  )
  const paid = due.flatMap((each): Paid[] =>
    opened.flatMap(({ chains, funder }) => (chains.includes(each.chain.config) ? [{ ...each, funder }] : [])),
  )
  const missing = (await Promise.all(paid.map(findMissing))).flat()
  if (missing.length > 0) throw new UsageError(missing.join('\n'))
  const sent = await onEach(paid, ({ funder, chain, payments }) =>
    funder.pay(chain.config, payments, output.out),
  )
  if (sent.every((count) => count === 0)) output.out('Nothing to send.')
  return 0
}

/** The funder needs the sum, gas for its payments, and on some chains rent. */
async function findMissing({ chain, total, funder }: Paid): Promise<string[]> {
  const { config, nativeToken } = chain
  const reserve = await funder.readReserve(config)
  const balance = await chain.readGasBalance(funder.address)
  if (balance > total + reserve) return []
  const needs = `${about(total + reserve, nativeToken.decimals)} ${config.native.symbol}`
  const has = formatUnits(balance, nativeToken.decimals)
  return [
    `${config.name}: the funder ${funder.address} has ${has} and needs more than ${needs}: send it there first.`,
  ]
}

function parse(args: string[]): { config: string | undefined; swaps: bigint | undefined } {
  const { values } = parseFlags({ args, options: { config: { type: 'string' }, swaps: { type: 'string' } } })
  const { config, swaps } = values
  if (swaps !== undefined && !/^[1-9]\d{0,8}$/.test(swaps)) throw new UsageError('--swaps must be a number.')
  return { config, swaps: swaps === undefined ? undefined : BigInt(swaps) }
}
