import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@geoswap/devnet'
import pg from 'pg'
import type { Address } from 'viem'
import { findFreePort } from '../../../packages/devnet/src/ports.ts'
import { PASSPHRASE } from '../../cli.ts'
import type { Report } from '../report.ts'
import { type BareChain, startBareChains } from './chains.ts'
import { commandsOfManual, openTerminal, type Terminal } from './commands.ts'
import { startHermes } from './hermes.ts'
import { type BareSolana, startBareSolana } from './solana.ts'

const CHAINS = ['base', 'arbitrum', 'solana']
const SOLANA_ID = 792703809
// `git clone` and `npm ci` come before those of the block.
const BEFORE = 2
const MAX_COMMANDS = 10
const MAX_SECONDS = 300
const USDC = 1_000_000n

type World = { chains: BareChain[]; solana: BareSolana; hermes: { url: string } }
type Scene = World & { report: Report; folder: string; admin: string; url: string }

/** From an empty folder, a PostgreSQL and three bare chains to a settled swap, by the commands of the manual alone. */
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
  const own = { PORT: String(port), GEOSWAP_CLI_HOME: join(root, 'customer') }
  const terminal = openTerminal(report, { PATH, HOME, ...own })
  try {
    const url = `http://127.0.0.1:${port}`
    const admin = await emptyServer(postgres.url)
    const scene = { report, folder, chains, solana, hermes, admin, url }
    const begun = performance.now()
    const { count, wallet } = await followManual(scene, terminal)
    const seconds = (performance.now() - begun) / 1_000
    const received = await heldOnArbitrum(scene, wallet)
    report.expects('the customer holds USDC on Arbitrum', received > 4n * USDC, `${received}`)
    report.sees(`${count} commands, ${seconds.toFixed(0)} s after npm ci`)
    report.expects(`at most ${MAX_COMMANDS} commands`, count <= MAX_COMMANDS)
    await swapWithSolana(scene, terminal, wallet)
    report.does('asks the doctor, which is no step of the way and knows that these are no public nodes')
    await terminal.show('service doctor')
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

type Followed = { count: number; wallet: Address }

/** Types every command of the manual, with what an operator fills in. */
async function followManual(scene: Scene, terminal: Terminal): Promise<Followed> {
  const { report, folder, chains, solana, admin, url } = scene
  const [base] = chains
  const nodes = [...chains, solana].flatMap(({ name, rpcUrl, attesterUrl }) => [
    `--node ${name}=${rpcUrl}`,
    `--attester-node ${name}=${attesterUrl}`,
  ])
  const fillIn = (command: string) =>
    command
      .replace('--treasury 0x… ', '')
      .replace(/--node .*/, `--database ${new URL(admin).host} ${nodes.join(' ')}`)
      .replace('sudo -u postgres psql', `psql -q -v ON_ERROR_STOP=1 ${admin}`)
      .replace('http://127.0.0.1:8080', url)
      .replace('GEOSWAP_PASSPHRASE=…', `GEOSWAP_PASSPHRASE='${PASSPHRASE}'`)
      .replace('--rpc https://two.example', `--rpc ${base?.rpcUrl}`)
      .replace('--out deploy', `--out ${folder}`)
      .replace('deploy/', `${folder}/`)
  const commands = commandsOfManual().map(fillIn)
  let wallet: Address | undefined
  for (const command of commands) {
    const said = await terminal.type(command)
    if (/ setup /.test(command)) await payOperator(scene, said)
    if (/ all /.test(command)) await report.until('the service is ready', () => isReady(url), 90_000)
    if (/ wallet create /.test(command)) {
      report.happens('somebody pays 100 USDC to the wallet on Base')
      wallet = evmIn(said)
      await base?.giveTokens(wallet, 'USDC', 100n * USDC)
    }
  }
  if (!wallet) throw new Error('The manual makes no wallet')
  return { count: BEFORE + commands.length, wallet }
}

async function payOperator({ report, folder, chains, solana, hermes }: Scene, made: string): Promise<void> {
  report.happens('the file names the genesis of this Solana chain, and a price server of this machine')
  change(join(folder, 'geoswap.json'), (network) => {
    network.pyth.url = hermes.url
    for (const chain of network.chains) if (chain.name === 'solana') chain.genesisHash = solana.genesisHash
  })
  report.happens('an exchange pays ETH to deployer and treasury, SOL to the deployer, and USDC to the vaults')
  const [deployer, treasury] = [addressIn(made, 'deployer'), addressIn(made, 'treasury')]
  for (const chain of chains) {
    await chain.giveCoins(deployer, '1')
    await chain.giveCoins(treasury, '1')
    await chain.giveTokens(treasury, 'USDC', 10_000n * USDC)
  }
  await solana.giveCoins(addressIn(made, 'solana-deployer'), 5n)
  await solana.giveTokens(solanaIn(folder).vault, 5_000n * USDC)
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

async function isReady(url: string): Promise<boolean> {
  const reply = await fetch(`${url}/ready`).catch(() => undefined)
  await reply?.body?.cancel()
  return reply?.status === 200
}

function evmIn(text: string): Address {
  const [address] = /0x[0-9a-fA-F]{40}/.exec(text) ?? []
  if (!address) throw new Error('The wallet has no address')
  return address as Address
}

const heldOnArbitrum = async ({ chains }: World, owner: Address) =>
  (await chains[1]?.balanceOf(owner, 'USDC')) ?? 0n

/** No step of the way: to Solana and back, by the program, vault and attester that the operator publishes. */
async function swapWithSolana(scene: Scene, { type }: Terminal, wallet: Address): Promise<void> {
  const { report, folder, chains, solana } = scene
  const made = await type('npx geoswap wallet create sol --family solana')
  const [owner = ''] = /\b[1-9A-HJ-NP-Za-km-z]{43,44}\b/.exec(made) ?? []
  const rpc = [...chains, solana].map(({ name, rpcUrl }) => `--rpc ${name}=${rpcUrl}`).join(' ')
  await type(`npx geoswap swap base:USDC solana:USDC --amount 20 --wallet first --to sol ${rpc}`)
  const onSolana = await solana.balanceOf(owner)
  report.expects('the customer holds USDC on Solana', onSolana > 19n * USDC, `${onSolana}`)
  const { program, vault, attester } = solanaIn(folder)
  for (const [name, address] of Object.entries({ escrow: program, vault, attester }))
    await type(`npx geoswap config set ${name}.${SOLANA_ID} ${address}`)
  const before = await heldOnArbitrum(scene, wallet)
  await type(`npx geoswap swap solana:USDC arbitrum:USDC --amount 10 --wallet sol --to first ${rpc}`)
  const received = (await heldOnArbitrum(scene, wallet)) - before
  report.expects('the customer got more USDC on Arbitrum', received > 9n * USDC, `${received}`)
}
