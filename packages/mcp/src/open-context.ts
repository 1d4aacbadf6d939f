import { openSync } from 'node:fs'
import { join } from 'node:path'
import { isatty, ReadStream, WriteStream } from 'node:tty'
import { type Context, connect } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { familyNames } from '@geoswap/wallet/families/registry'
import type { Key } from '@geoswap/wallet/keys'
import { LOCAL_WALLET } from '@geoswap/wallet/store/wallet-files'
import { createTerminal } from '@geoswap/wallet/terminal'
import { type ChosenWallet, chooseWallet, unlockWallet, walletId } from '@geoswap/wallet/wallets'
import { createConfirmations } from './confirmations.ts'
import { attendedBy, type McpContext } from './mcp-context.ts'
import { formatUsd, type GivenRules, listOf, mergeGiven, toRules } from './rules.ts'
import { openSpending } from './spending.ts'

/** The named wallets; by default the one of each family that the CLI would use. */
export async function chooseWallets(context: Context, names: readonly string[]): Promise<ChosenWallet[]> {
  if (names.length > 0) return (await Promise.all(names.map((name) => findNamed(context, name)))).flat()
  const found = await Promise.all(
    familyNames.map((family) =>
      chooseWallet(context, { family, chain: `${family} chains` }).catch((error: unknown) => {
        if (error instanceof UserError && error.code === 'NO_WALLET') return undefined
        throw error
      }),
    ),
  )
  return found.filter((wallet) => wallet !== undefined)
}

async function findNamed(context: Context, name: string): Promise<ChosenWallet[]> {
  if (name === LOCAL_WALLET) return ownLocal(context)
  const wallet = context.wallets.find(name)
  if (wallet) return [wallet]
  const names = context.wallets.list().map((each) => each.name)
  throw new UserError('NO_WALLET', `There is no wallet ${name}.`, {
    advice: `There are: ${names.join(', ') || 'none'}.`,
  })
}

/** Addresses of the operator's own wallets. */
export async function ownAddresses(context: Context): Promise<string[]> {
  const local = context.settings.local ? await ownLocal(context) : []
  return [...context.wallets.list(), ...local].map(({ address }) => address)
}

function ownLocal(context: Context): Promise<ChosenWallet[]> {
  const named = LOCAL_WALLET
  return Promise.all(familyNames.map((family) => chooseWallet(context, { family, chain: family, named })))
}

/** Once at the start, when somebody can still be asked. */
export async function unlockAll(
  context: Context,
  wallets: readonly ChosenWallet[],
): Promise<Map<string, Key>> {
  const sealed = wallets.filter(({ name }) => name !== LOCAL_WALLET)
  const passphrase =
    context.passphrase ?? (sealed.length > 0 ? await askAtTerminal(context, sealed) : undefined)
  const keys = new Map<string, Key>()
  // Sequential: each takes 128 MiB.
  for (const wallet of wallets)
    keys.set(walletId(wallet), await unlockWallet({ ...context, passphrase }, wallet))
  return keys
}

/** Prompts at the terminal itself: stdin carries the protocol. */
async function askAtTerminal({ interrupts }: Context, wallets: readonly ChosenWallet[]): Promise<string> {
  const stdin = openTerminal()
  if (stdin === undefined) {
    throw new UserError(
      'NEEDS_PASSPHRASE',
      'The wallets need their passphrase, and there is no terminal to ask for it.',
      {
        advice: 'Set the environment variable GEOSWAP_PASSPHRASE, or serve with --read-only.',
      },
    )
  }
  const stderr = new WriteStream(2)
  try {
    const names = wallets.map(({ name }) => name).join(', ')
    const terminal = createTerminal({ stdin, stdout: stderr, stderr }, { json: false })
    return await terminal.secret(`Passphrase of ${names}: `, interrupts.signal)
  } finally {
    stdin.destroy()
  }
}

/** Undefined if there is no terminal, or it would not show the prompt. */
function openTerminal(): ReadStream | undefined {
  if (!isatty(2)) return undefined
  try {
    return new ReadStream(openSync('/dev/tty', 'r'))
  } catch {
    return undefined
  }
}

/** `name`: of the program, in its log. */
type Asked = { isReadOnly: boolean; flags: GivenRules; name?: string }

/** Reads the rules and unlocks the wallets, so that errors in either prevent the start. */
export async function openMcpContext(
  context: Context,
  { isReadOnly, flags, name = 'geoswap mcp' }: Asked,
): Promise<McpContext> {
  const { settings, wallets: files, journal, terminal, home } = context
  // Throws if no service is configured.
  connect(context)
  const given = mergeGiven(flags, context)
  const rules = toRules(given, await ownAddresses(context), (name) => files.find(name)?.address)
  const wallets = await chooseWallets(context, listOf(given.wallets))
  if (wallets.length === 0 && !isReadOnly) {
    const advice = 'Create one with geoswap wallet create NAME, or serve without wallets: --read-only.'
    throw new UserError('NO_WALLET', 'There is no wallet to swap with, or no default is set.', { advice })
  }
  const unlocked = isReadOnly ? undefined : await unlockAll(context, wallets)
  const log = (line: string) => terminal.note(`${name}: ${line}`)
  const limits = `${formatUsd(rules.maxSwapCents)} a swap, ${formatUsd(rules.maxDayCents)} in 24 hours`
  const names = wallets.map(({ name, address }) => `${name} ${address}`).join(', ')
  log(
    isReadOnly
      ? 'reads only'
      : `${names}: ${limits}, to be confirmed above ${formatUsd(rules.confirmAboveCents)}`,
  )
  const running = new Set<string>()
  return {
    context: { ...context, settings, unlocked, passphrase: undefined, isAttended: attendedBy(running) },
    rules,
    wallets,
    isReadOnly,
    log,
    spending: openSpending(join(home, 'spending'), journal),
    confirmations: createConfirmations(),
    submitting: new Set(),
    unheard: new Map(),
    running,
  }
}
