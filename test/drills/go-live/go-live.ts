import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@geoswap/devnet'
import pg from 'pg'
import type { Address } from 'viem'
import { findFreePort } from '../../../packages/devnet/src/ports.ts'
import type { Report } from '../report.ts'
import { type BareChain, startBareChains } from './chains.ts'
import { openTerminal, type Terminal } from './commands.ts'
import { type Customer, createCustomer } from './customer.ts'

const MAX_COMMANDS = 10
const MAX_SECONDS = 300
const USDC = 1_000_000n
const STOCK = ['base:USDC=5000', 'arbitrum:USDC=5000']

type Scene = { report: Report; folder: string; chains: BareChain[]; admin: string; port: number }

/** From an empty folder, a PostgreSQL and two bare chains to a settled swap, with an operator's commands alone. */
export async function goLive(report: Report): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'geoswap-go-live-'))
  const folder = join(root, 'live')
  const { PATH = '', HOME = '' } = process.env
  report.does('starts an empty PostgreSQL, and chains as Base and Arbitrum are, with nothing of ours on them')
  const [postgres, chains] = await Promise.all([
    startPostgres({ dir: join(root, 'postgres') }),
    startBareChains({ PATH, HOME }),
  ])
  const port = await findFreePort()
  const env = { PATH, HOME, PORT: String(port) }
  const terminal = openTerminal(report, env)
  try {
    const admin = await emptyServer(postgres.url)
    const customer = await createCustomer({ root, chains, url: `http://127.0.0.1:${port}` })
    await chains[0]?.giveTokens(customer.address, 'USDC', 100n * USDC)
    const begun = performance.now()
    await setUp({ report, folder, chains, admin, port }, terminal)
    await swap({ report, chains, customer }, terminal)
    const seconds = (performance.now() - begun) / 1_000
    report.sees(`${terminal.count()} commands, ${seconds.toFixed(0)} s`)
    report.expects(`at most ${MAX_COMMANDS} commands`, terminal.count() <= MAX_COMMANDS)
    report.expects(`at most ${MAX_SECONDS} seconds`, seconds <= MAX_SECONDS)
    report.does('asks the doctor, which is no step of the way and knows that these are no public nodes')
    await terminal.show(service('doctor'))
  } finally {
    await terminal.stop()
    await Promise.all([postgres.stop(), ...chains.map((chain) => chain.stop())])
    rmSync(root, { recursive: true, force: true })
  }
}

/** Returns the URL of a superuser on a server without a database of ours. */
async function emptyServer(url: string): Promise<string> {
  const admin = url.replace(/\/geoswap$/, '/postgres')
  const client = new pg.Client(admin)
  await client.connect()
  await client.query('drop database geoswap')
  await client.end()
  return admin
}

const service = (command: string) => `npm run -s service -- ${command}`

async function setUp({ report, folder, chains, admin, port }: Scene, terminal: Terminal): Promise<void> {
  const { type, source, leave } = terminal
  // The node behind the balancer: the commands do not expect backends that lag behind each other.
  const nodes = chains.flatMap(({ name, nodeUrl }) => [
    `--node ${name}=${nodeUrl}`,
    `--attester-node ${name}=${nodeUrl}`,
  ])
  const database = new URL(admin).host
  const made = await type(
    service(`setup --chains base,arbitrum --out ${folder} --database ${database} ${nodes.join(' ')}`),
  )
  source(`${folder}/geoswap.env`)
  await type(`psql -q -v ON_ERROR_STOP=1 -f ${folder}/secrets/roles.sql ${admin}`)
  const [deployer, treasury] = [addressIn(made, 'deployer'), addressIn(made, 'treasury')]
  report.happens('an exchange pays ETH to deployer and treasury, and USDC to the treasury')
  for (const chain of chains) {
    await chain.giveCoins(deployer, '1')
    await chain.giveCoins(treasury, '1')
    await chain.giveTokens(treasury, 'USDC', 10_000n * USDC)
  }
  await type(service('migrate'))
  await type(service('deploy'))
  await type(service('fund apply'))
  await type(service(`treasury apply ${STOCK.map((stock) => `--stock ${stock}`).join(' ')}`))
  await leave(service('all'), /api ready/)
  await report.until('the service is ready', () => isReady(port), 90_000)
}

function addressIn(text: string, role: string): Address {
  const [, address] = new RegExp(`^${role} (0x[0-9a-fA-F]{40})$`, 'm').exec(text) ?? []
  if (!address) throw new Error(`The ${role} is not named`)
  return address as Address
}

async function isReady(port: number): Promise<boolean> {
  const reply = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined)
  await reply?.body?.cancel()
  return reply?.status === 200
}

type Swapping = { report: Report; chains: BareChain[]; customer: Customer }

async function swap({ report, chains, customer }: Swapping, { type }: Terminal): Promise<void> {
  const key = await type(service('api-key create --name first'))
  const [GEOSWAP_API_KEY = ''] = /gsk_\w+/.exec(key) ?? []
  await type('npx geoswap swap base:USDC arbitrum:USDC --amount 10', { ...customer.env, GEOSWAP_API_KEY })
  const received = (await chains[1]?.balanceOf(customer.address, 'USDC')) ?? 0n
  report.expects('the customer holds USDC on Arbitrum', received > 9n * USDC, `${received}`)
}
