import { getAccount, isAddressOf } from './catalog.ts'
import type { Context } from './context.ts'
import { UserError } from './errors.ts'
import { familyNames } from './families/registry.ts'
import { addressOf, deriveKey, type Family, type Key } from './keys.ts'
import { LOCAL_WALLET } from './store/wallet-files.ts'

/** A wallet to swap with. The local network's wallet has a key of each family and no passphrase. */
export type ChosenWallet = { name: string; family: Family; address: string }

type Stores = Pick<Context, 'wallets' | 'settings'>

/** The named wallet; else the default, the only one of this family, or the local network's. */
export async function chooseWallet(
  context: Stores,
  { family, chain, named }: { family: Family; chain: string; named?: string | undefined },
): Promise<ChosenWallet> {
  if (named !== undefined) return getNamed(context, { family, chain, name: named })
  const { wallets, settings } = context
  const configured = settings.wallet === undefined ? undefined : (wallets.find(settings.wallet) ?? 'missing')
  // A default of another family is no error: it is for other chains.
  if (settings.wallet !== undefined && (configured === 'missing' || configured?.family === family))
    return getNamed(context, { family, chain, name: settings.wallet })
  const fitting = wallets.list().filter((wallet) => wallet.family === family)
  const [only] = fitting
  if (only && fitting.length === 1) return only
  if (fitting.length === 0 && settings.local) return getNamed(context, { family, chain, name: LOCAL_WALLET })
  const advice =
    fitting.length === 0
      ? `geoswap wallet create NAME --family ${family}, or geoswap wallet import NAME.`
      : `Name one with --wallet, or set it: geoswap config set wallet NAME. There are ${namesOf(fitting)}.`
  throw new UserError('NO_WALLET', `No wallet is set for ${chain}.`, { advice })
}

/** For a payment that may be made on any chain: the named wallet, else the usual one of each family. */
export async function choosePayers(context: Stores, named: string | undefined): Promise<ChosenWallet[]> {
  const found: ChosenWallet[] = []
  let refusal: unknown
  for (const family of familyNames)
    try {
      found.push(await chooseWallet(context, { family, chain: 'payments', named }))
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'NO_WALLET') throw error
      // Of several wallets somebody has to say which one pays.
      if (named === undefined && context.wallets.list().some((each) => each.family === family)) throw error
      refusal ??= error
    }
  if (found.length === 0) throw refusal
  return found
}

/** A wallet, or an address of somebody else: for swaps that no key of this machine signs. */
export async function chooseAnybody(
  context: Stores,
  chain: { chainId: number; family: Family; name: string },
  named: string | undefined,
): Promise<ChosenWallet> {
  const { family, name } = chain
  if (named?.includes(':')) return { name: '', family, address: getAccount(chain, named) }
  if (named !== undefined && isAddressOf(family, named)) return { name: '', family, address: named }
  return chooseWallet(context, { family, chain: name, named })
}

type Choice = { family: Family; chain: string; chainId: number; named?: string | undefined }

/** An address or CAIP-10 account, or the address of the named wallet. For commands that need no key. */
export async function chooseAddress(context: Stores, choice: Choice): Promise<string> {
  const { family, chain, chainId, named } = choice
  if (named?.includes(':')) return getAccount({ family, chainId, name: chain }, named)
  if (named !== undefined && isAddressOf(family, named)) return named
  return (await chooseWallet(context, choice)).address
}

async function getNamed(
  { wallets, settings }: Stores,
  { family, chain, name }: { family: Family; chain: string; name: string },
): Promise<ChosenWallet> {
  if (name === LOCAL_WALLET && settings.local)
    return { name, family, address: await addressOf(deriveKey(family, settings.local.apiKey)) }
  const wallet = wallets.find(name)
  if (wallet?.family === family) return wallet
  const message = wallet
    ? `Wallet ${name} is of the family ${wallet.family}, ${chain} needs ${family}.`
    : `There is no wallet ${name}.`
  const all = wallets.list().filter((each) => each.family === family)
  throw new UserError('NO_WALLET', message, { advice: `Of the family ${family} there are: ${namesOf(all)}.` })
}

/** The local network's wallet has the same name in each family. */
export function walletId({ name, family }: Pick<ChosenWallet, 'name' | 'family'>): string {
  return `${family} ${name}`
}

export async function unlockWallet(context: Context, { name, family }: ChosenWallet): Promise<Key> {
  const { wallets, settings, unlocked } = context
  const known = unlocked?.get(walletId({ name, family }))
  if (known) return known
  if (name === LOCAL_WALLET && settings.local) return deriveKey(family, settings.local.apiKey)
  return wallets.unlock({ name }, await getPassphrase(context, `Passphrase of wallet ${name}: `))
}

export async function getPassphrase(context: Context, prompt: string): Promise<string> {
  const { passphrase, terminal, interrupts } = context
  if (passphrase) return passphrase
  if (terminal.isInteractive) return terminal.secret(prompt, interrupts.signal)
  const advice = 'Set the environment variable GEOSWAP_PASSPHRASE.'
  throw new UserError(
    'NEEDS_PASSPHRASE',
    'The wallet needs its passphrase, and there is no terminal to ask for it.',
    {
      advice,
    },
  )
}

function namesOf(wallets: readonly { name: string }[]): string {
  return wallets.map(({ name }) => name).join(', ') || 'none'
}
