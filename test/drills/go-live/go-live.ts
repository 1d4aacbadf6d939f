import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@geoswap/devnet'
import pg from 'pg'
import type { Address } from 'viem'
import { findFreePort } from '../../../packages/devnet/src/ports.ts'
import type { Report } from '../report.ts'
import { type BareChain, startBareChains } from './chains.ts'
import { openTerminal, type Terminal } from './commands.ts'
import { CHAIN_IDS, type Customer, createCustomer } from './customer.ts'
import { startHermes } from './hermes.ts'
import { type BareSolana, startBareSolana } from './solana.ts'

const CHAINS = ['base', 'arbitrum', 'solana']
const MAX_COMMANDS = 10
const MAX_SECONDS = 300
const USDC = 1_000_000n
const STOCK = ['base:USDC=5000', 'arbitrum:USDC=5000']

type World = { chains: BareChain[]; solana: BareSolana; hermes: { url: string } }
type Scene = World & { report: Report; folder: string; admin: string; port: number }

/** From an empty folder, a PostgreSQL and three bare chains to a settled swap, with an operator's commands alone. */
export async function goLive(report: Report): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'geoswap-go-live-'))
  const folder = join(root, 'live')
  const { PATH = '', HOME = '' } = process.env
  report.does(
    'starts an empty PostgreSQL, and chains as Base, Arbitrum and Solana, with nothing of ours on them',
  )
  const [postgres, chains, solana, hermes] = await Promise.all([
    startPostgres({ dir: join(root, 'postgres') }),
    startBareChains({ PATH, HOME }),
    startBareSolana({ PATH, HOME }),
    startHermes(CHAINS),
  ])
  const port = await findFreePort()
  const env = { PATH, HOME, PORT: String(port) }
  const terminal = openTerminal(report, env)
  try {
    const admin = await emptyServer(postgres.url)
    const url = `http://127.0.0.1:${port}`
    const customer = await createCustomer({ root, chains: [...chains, solana], url })
    await chains[0]?.giveTokens(customer.address, 'USDC', 100n * USDC)
    const begun = performance.now()
    await setUp({ report, folder, chains, solana, hermes, admin, port }, terminal)
    const key = await swapToSolana({ report, solana, customer }, terminal)
    const seconds = (performance.now() - begun) / 1_000
    report.sees(`${terminal.count()} commands, ${seconds.toFixed(0)} s`)
    report.expects(`at most ${MAX_COMMANDS} commands`, terminal.count() <= MAX_COMMANDS)
    await swapFromSolana({ report, folder, chains, customer }, { terminal, key })
    report.does('asks the doctor, which is no step of the way and knows that these are no public nodes')
    await terminal.show(service('doctor'))
    report.expects(`at most ${MAX_SECONDS} seconds`, seconds <= MAX_SECONDS)
  } finally {
    await terminal.stop()
    await Promise.all([postgres, hermes, solana, ...chains].map((each) => each.stop()))
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

async function setUp(scene: Scene, terminal: Terminal): Promise<void> {
  const { report, folder, chains, solana, hermes, admin, port } = scene
  const { type, source, leave } = terminal
  const nodes = [...chains, solana].flatMap(({ name, rpcUrl, attesterUrl }) => [
    `--node ${name}=${rpcUrl}`,
    `--attester-node ${name}=${attesterUrl}`,
  ])
  const database = new URL(admin).host
  const made = await type(
    service(`setup --chains ${CHAINS.join(',')} --out ${folder} --database ${database} ${nodes.join(' ')}`),
  )
  report.happens('the file names the genesis of this Solana chain, and a price server of this machine')
  change(join(folder, 'geoswap.json'), (network) => {
    network.pyth.url = hermes.url
    for (const chain of network.chains) if (chain.name === 'solana') chain.genesisHash = solana.genesisHash
  })
  source(`${folder}/geoswap.env`)
  await type(`psql -q -v ON_ERROR_STOP=1 -f ${folder}/secrets/roles.sql ${admin}`)
  const [deployer, treasury] = [addressIn(made, 'deployer'), addressIn(made, 'treasury')]
  report.happens(
    'an exchange pays ETH to deployer and treasury, SOL to the deployer, and USDC to the treasury',
  )
  for (const chain of chains) {
    await chain.giveCoins(deployer, '1')
    await chain.giveCoins(treasury, '1')
    await chain.giveTokens(treasury, 'USDC', 10_000n * USDC)
  }
  await solana.giveCoins(addressIn(made, 'solana-deployer'), 5n)
  await type(service('migrate'))
  await type(service('deploy'))
  await type(service('fund apply'))
  report.happens('an exchange pays USDC to the vault on Solana')
  await solana.giveTokens(solanaIn(folder).vault, 5_000n * USDC)
  await type(service(`treasury apply ${STOCK.map((stock) => `--stock ${stock}`).join(' ')}`))
  await leave(service('all'), /api ready/)
  await report.until('the service is ready', () => isReady(port), 90_000)
}

type SolanaChain = { name: string; genesisHash: string; program: string; vault: string; attester: string }
type File = { pyth: { url: string }; chains: SolanaChain[] }

const readNetwork = (file: string): File => JSON.parse(readFileSync(file, 'utf8'))

function change(file: string, edit: (network: File) => void): void {
  const network = readNetwork(file)
  edit(network)
  writeFileSync(file, JSON.stringify(network, null, 2))
}

function solanaIn(folder: string): SolanaChain {
  const found = readNetwork(join(folder, 'geoswap.json')).chains.find(({ name }) => name === 'solana')
  if (!found) throw new Error('The file has no Solana')
  return found
}

function addressIn(text: string, role: string): Address {
  const [, address] = new RegExp(`^${role} (\\w+)$`, 'm').exec(text) ?? []
  if (!address) throw new Error(`The ${role} is not named`)
  return address as Address
}

async function isReady(port: number): Promise<boolean> {
  const reply = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined)
  await reply?.body?.cancel()
  return reply?.status === 200
}

type Swapping = Pick<Scene, 'report'> & { customer: Customer }

async function swapToSolana(
  { report, solana, customer }: Swapping & Pick<Scene, 'solana'>,
  { type }: Terminal,
): Promise<string> {
  const created = await type(service('api-key create --name first'))
  const [key = ''] = /gsk_\w+/.exec(created) ?? []
  const env = { ...customer.env, GEOSWAP_API_KEY: key }
  await type('npx geoswap swap base:USDC solana:USDC --amount 20 --wallet first --to sol', env)
  const received = await solana.balanceOf(customer.solana)
  report.expects('the customer holds USDC on Solana', received > 19n * USDC, `${received}`)
  return key
}

/** No step of the way: the swap back, by the program, vault and attester that the operator publishes. */
async function swapFromSolana(
  { report, folder, chains, customer }: Swapping & Pick<Scene, 'chains' | 'folder'>,
  { terminal, key }: { terminal: Terminal; key: string },
): Promise<void> {
  const env = { ...customer.env, GEOSWAP_API_KEY: key }
  const { program, vault, attester } = solanaIn(folder)
  for (const [name, address] of Object.entries({ escrow: program, vault, attester }))
    await terminal.type(`npx geoswap config set ${name}.${CHAIN_IDS.solana} ${address}`, env)
  await terminal.type('npx geoswap swap solana:USDC arbitrum:USDC --amount 10 --wallet sol --to first', env)
  const received = (await chains[1]?.balanceOf(customer.address, 'USDC')) ?? 0n
  report.expects('the customer holds USDC on Arbitrum', received > 9n * USDC, `${received}`)
}
