import { join } from 'node:path'
import { type Context, connect } from '../context.ts'
import { CliError } from '../errors.ts'
import { createConfirmations } from './confirmations.ts'
import { attendedBy, type Desk } from './desk.ts'
import { type GivenRules, listOf, mergeGiven, toRules } from './rules.ts'
import { openSpending } from './spending.ts'
import { chooseWallets, ownAddresses, unlockAll } from './unlock.ts'
import { formatUsd } from './usd.ts'

type Asked = { isReadOnly: boolean; flags: GivenRules }

/** Reads the rules and unlocks the wallets: whatever is wrong with either is said before anything is served. */
export async function openDesk(context: Context, { isReadOnly, flags }: Asked): Promise<Desk> {
  const { settings, wallets: files, journal, terminal, home } = context
  // Throws where no service is configured.
  connect(context)
  const given = mergeGiven(flags, context)
  const rules = toRules(given, await ownAddresses(context), (name) => files.find(name)?.address)
  const wallets = await chooseWallets(context, listOf(given.wallets))
  if (wallets.length === 0 && !isReadOnly) {
    const advice = 'geoswap wallet create NAME makes one; --read-only serves without.'
    throw new CliError('NO_WALLET', 'There is no wallet to swap with, or which one is not said.', { advice })
  }
  const unlocked = isReadOnly ? undefined : await unlockAll(context, wallets)
  const log = (line: string) => terminal.note(`geoswap mcp: ${line}`)
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
    ...{ rules, wallets, isReadOnly, log },
    spending: openSpending(join(home, 'spending'), journal),
    confirmations: createConfirmations(),
    submitting: new Set(),
    running,
  }
}
