import { readFileSync } from 'node:fs'
import { formatAmount, parseAmount } from '@geoswap/wallet/amounts'
import { readBalances } from '@geoswap/wallet/balances'
import { getSide } from '@geoswap/wallet/catalog'
import { type Context, connect, readCatalog } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { defaultFamily, familyNames } from '@geoswap/wallet/families/registry'
import { createKey, type Family, formatKey, type Key, parseKey } from '@geoswap/wallet/keys'
import type { Wallet } from '@geoswap/wallet/store/wallet-files'
import { askFaucet } from '@geoswap/wallet/swap/local-wallet'
import { chooseAddress, getPassphrase } from '@geoswap/wallet/wallets'
import { columns, defineCommand } from '../command.ts'

const USAGE = 'create NAME | import NAME | list | show NAME | remove NAME | export NAME'
const MIN_PASSPHRASE = 8

export const wallet = defineCommand({
  usage: `${USAGE} [options]`,
  about: `Stores private keys, each in its own file, encrypted with a passphrase: Web3 Secret Storage 3.
The passphrase is prompted for, or read from GEOSWAP_PASSPHRASE. import prompts for the key, or reads
it from --file or from a pipe.

Which wallet pays: the one of --wallet, else that of geoswap config set wallet, else the only one of
the chain's family. On a network of npm start, where there is none, it is "local": a wallet of that
network that needs no file and no passphrase, and that the faucet fills.`,
  words: [1, 2],
  actions: ['create', 'import', 'list', 'show', 'remove', 'export'],
  options: {
    family: { type: 'string', value: 'FAMILY', about: 'of a new wallet: evm (default) or solana' },
    file: {
      type: 'string',
      value: 'PATH',
      about: 'import the key in this file, such as a keypair of solana-keygen',
    },
    yes: { type: 'boolean', about: 'remove without asking' },
  },
  examples: ['create bot', 'import trader --file id.json', 'list', 'export bot > key.txt'],

  async run(context, { values, words: [action, name] }) {
    if (action === 'list' && name === undefined) list(context)
    else if (name === undefined) throw new UserError('USAGE', `geoswap wallet ${USAGE}`)
    else if (action === 'create') await add(context, name, createKey(readFamily(values.family)))
    else if (action === 'import') await add(context, name, await readKey(context, values.file))
    else if (action === 'show') show(context, getWallet(context, name))
    else if (action === 'remove') await remove(context, getWallet(context, name), values.yes ?? false)
    else if (action === 'export') await exportKey(context, getWallet(context, name))
    else throw new UserError('USAGE', `geoswap wallet ${USAGE}`)
    return 0
  },
})

function list({ wallets, terminal }: Context): void {
  const all = wallets.list()
  const lines = columns(all.map(({ name, family, address }) => [name, family, address]))
  terminal.result(all.length > 0 ? lines : ['no wallet yet: geoswap wallet create NAME'], { wallets: all })
}

function show({ terminal }: Context, found: Wallet): void {
  terminal.result(columns(Object.entries(found)), found)
}

async function add(context: Context, name: string, key: Key): Promise<void> {
  context.wallets.assertFree(name)
  const passphrase = await choosePassphrase(context)
  const added = await context.wallets.add(name, key, passphrase)
  show(context, added)
}

async function choosePassphrase(context: Context): Promise<string> {
  const passphrase = await getPassphrase(context, 'New passphrase: ')
  if (passphrase.length < MIN_PASSPHRASE)
    throw new UserError('NEEDS_PASSPHRASE', `A passphrase has at least ${MIN_PASSPHRASE} characters.`)
  const isAsked = !context.passphrase
  if (isAsked && (await getPassphrase(context, 'Once more: ')) !== passphrase)
    throw new UserError('WRONG_PASSPHRASE', 'The passphrases differ. Nothing was stored.')
  return passphrase
}

function readKey({ terminal, interrupts }: Context, file: string | undefined): Promise<Key> {
  if (file !== undefined) return parseKey(readFileSync(file, 'utf8'))
  return terminal.secret('Private key (not shown): ', interrupts.signal).then(parseKey)
}

/** The key may be the only access to funds, so removal must be confirmed. */
async function remove(
  { wallets, terminal, interrupts }: Context,
  found: Wallet,
  isSure: boolean,
): Promise<void> {
  const question = `Remove wallet ${found.name}, ${found.address}, and its key for ever?`
  if (!isSure && !terminal.isInteractive)
    throw new UserError('NEEDS_CONFIRMATION', question, { advice: '--yes removes it.' })
  if (!isSure && !(await terminal.confirm(question, interrupts.signal)))
    throw new UserError('NEEDS_CONFIRMATION', 'Nothing was removed.')
  wallets.remove(found)
  terminal.result([`wallet ${found.name} is removed`], { removed: found })
}

async function exportKey(context: Context, found: Wallet): Promise<void> {
  const passphrase = await getPassphrase(context, `Passphrase of wallet ${found.name}: `)
  const privateKey = await formatKey(await context.wallets.unlock(found, passphrase))
  context.terminal.result([privateKey], { ...found, privateKey })
}

function getWallet({ wallets }: Context, name: string): Wallet {
  const found = wallets.find(name)
  const advice = `There are: ${
    wallets
      .list()
      .map((each) => each.name)
      .join(', ') || 'none'
  }.`
  if (!found) throw new UserError('NO_WALLET', `There is no wallet ${name}.`, { advice })
  return found
}

function readFamily(text: string = defaultFamily): Family {
  const found = familyNames.find((name) => name === text)
  if (found) return found
  throw new UserError('USAGE', `--family is ${familyNames.join(' or ')}.`)
}

export const balance = defineCommand({
  usage: '[--wallet NAME|ADDRESS] [--chain CHAIN] [options]',
  about: `Reads from the chains what a wallet holds of the tokens that can be swapped.
Without --chain: on all chains with a configured node and a wallet.`,
  words: [0, 0],
  options: {
    wallet: { type: 'string', value: 'WHO', about: 'wallet or address; default: see geoswap wallet --help' },
    chain: { type: 'string', value: 'CHAIN', about: 'on this chain only, by name or id' },
    all: { type: 'boolean', about: 'include zero balances' },
    raw: { type: 'boolean', about: 'amounts are integers in the smallest unit' },
  },
  examples: ['', '--wallet bot --chain alpha', '--wallet 0x7099… --json'],

  async run(context, { values }) {
    const catalog = await readCatalog(connect(context), context.interrupts.signal)
    const { owners, held: all } = await readBalances(context, catalog, values)
    const held = all.filter(({ amount }) => values.all || amount !== '0')
    const rows = held.map((each) => [
      `${each.chain}:${each.symbol}`,
      values.raw ? each.amount : formatAmount(BigInt(each.amount), each.decimals),
      each.owner,
    ])
    const lines =
      rows.length > 0
        ? columns(rows)
        : owners.map(({ chain, owner }) => `${owner} holds nothing on ${chain.name}`)
    context.terminal.result(lines, { balances: held })
    return 0
  },
})

export const faucet = defineCommand({
  usage: 'CHAIN:TOKEN --amount N [--wallet NAME|ADDRESS]',
  about: 'Gives test tokens on a network of npm start. They are worth nothing.',
  words: [1, 1],
  options: {
    amount: { type: 'string', value: 'N', about: 'how much, in whole tokens; default 100' },
    wallet: { type: 'string', value: 'WHO', about: 'wallet or address; default: see geoswap wallet --help' },
  },
  examples: ['alpha:USDC --amount 50', 'solana:SOL --amount 1 --wallet sol'],

  async run(context, { values, words: [text = ''] }) {
    const side = getSide(await readCatalog(connect(context), context.interrupts.signal), text)
    const { chain, token } = side
    const address = await chooseAddress(context, {
      family: chain.family,
      chain: chain.name,
      chainId: chain.chainId,
      named: values.wallet,
    })
    const { amount: typed = '100' } = values
    const amount = parseAmount(typed, token)
    const txHash = await askFaucet(context, side, { address, amount })
    const line = `${address} got ${typed} ${token.symbol} on ${chain.name}`
    context.terminal.result([line], { address, amount: amount.toString(), token: token.address, txHash })
    return 0
  },
})
