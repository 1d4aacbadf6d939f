import { join } from 'node:path'
import { type Context, connect } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { createConfirmations } from './confirmations.ts'
import { attendedBy, type McpContext } from './mcp-context.ts'
import { type GivenRules, listOf, mergeGiven, toRules } from './rules.ts'
import { openSpending } from './spending.ts'
import { chooseWallets, ownAddresses, unlockAll } from './unlock.ts'
import { formatUsd } from './usd.ts'

type Asked = { isReadOnly: boolean; flags: GivenRules }

/** Reads the rules and unlocks the wallets, so that errors in either prevent the start. */
export async function openMcpContext(context: Context, { isReadOnly, flags }: Asked): Promise<McpContext> {
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
    rules,
    wallets,
    isReadOnly,
    log,
    spending: openSpending(join(home, 'spending'), journal),
    confirmations: createConfirmations(),
    submitting: new Set(),
    running,
  }
}
