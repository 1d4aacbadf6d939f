import type { StatusReply } from '@geoswap/sdk'
import { readBalances } from '@geoswap/wallet/balances'
import { type Catalog, getChain, toPlainChains } from '@geoswap/wallet/catalog'
import { readCatalog } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { parseAnyAddress } from '@geoswap/wallet/families/registry'
import { swapIdOf } from '@geoswap/wallet/store/journal'
import { toEnd } from '@geoswap/wallet/swap/claim'
import { notSubmitted } from '@geoswap/wallet/swap/follow'
import { quoteOrder } from '@geoswap/wallet/swap/quote'
import { factsOf } from './execute.ts'
import { type Call, type McpContext, type Opened, readOrder } from './mcp-context.ts'
import { assertRecipient, assertWithinCaps, reasonsToAsk } from './rules.ts'
import type { HistoryInput, OrderInput } from './schemas.ts'
import { findSide, toMoney, toOrderView, toQuoteView, toRecordView, toSwapView } from './views.ts'

export async function listChains({ client, context }: Opened) {
  const { chains } = await client.chains({ signal: context.interrupts.signal })
  return {
    chains: toPlainChains(chains).map(({ name: chain, chainId, family, native, available, reason }) => ({
      chain,
      chainId,
      family,
      coin: native.symbol,
      available,
      reason,
    })),
  }
}

export async function listTokens({ client, context }: Opened, { chain }: { chain?: string | undefined }) {
  const { chains, tokens } = await readCatalog(client, context.interrupts.signal)
  const only = chain === undefined ? undefined : getChain(chains, chain).chainId
  const shown = tokens.filter(({ chainId }) => only === undefined || chainId === only)
  return {
    tokens: shown.map(({ chainId, symbol, address, decimals, input, output, priceUsd }) => {
      const name = findSide({ chains, tokens }, chainId).chain
      const isOne = tokens.filter((each) => each.chainId === chainId && each.symbol === symbol).length === 1
      return {
        id: `${name}:${isOne ? symbol : address}`,
        chain: name,
        chainId,
        symbol,
        address,
        decimals,
        canPay: input,
        canReceive: output,
        priceUsd,
      }
    }),
  }
}

type BalanceInput = { wallet?: string | undefined; chain?: string | undefined }

export async function getBalance(
  mcp: McpContext,
  { client, context }: Opened,
  { wallet, chain }: BalanceInput,
) {
  const catalog = await readCatalog(client, context.interrupts.signal)
  const asked = chain === undefined ? catalog.chains : [getChain(catalog.chains, chain)]
  const usual = mcp.wallets.filter(({ family }) =>
    asked.some((each) => each.family === family && context.settings.rpcUrls[each.chainId] !== undefined),
  )
  const owners = wallet === undefined && usual.length > 0 ? usual.map(({ address }) => address) : [wallet]
  const read = owners.map((owner) => readBalances(context, catalog, { wallet: owner, chain }))
  const held = (await Promise.all(read)).flatMap((each) => each.held.filter(({ amount }) => amount !== '0'))
  return { balances: held.map(({ owner, amount, ...side }) => ({ owner, ...toMoney(amount, side) })) }
}

export async function quoteSwap(mcp: McpContext, opened: Opened, input: OrderInput) {
  const { client, context } = opened
  const ready = await readOrder(mcp, opened, input)
  const { order } = ready
  const quote = await quoteOrder(context, client, ready)
  const facts = factsOf(quote, ready)
  const refusal = refusalOf(() => {
    assertRecipient(order.recipient, mcp.rules)
    assertWithinCaps({ ...facts, spentCents: mcp.spending.spentCents() }, mcp.rules)
  })
  return {
    ...toQuoteView(quote, order),
    allowed: refusal === undefined && !mcp.isReadOnly,
    refusal,
    confirmationReasons: reasonsToAsk(facts, mcp.rules),
  }
}

function refusalOf(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof UserError) return error.code
    throw error
  }
}

type StatusInput = { swapId: string; waitSeconds?: number | undefined }

// The longest hold of a read by the service.
const HOLD_SECONDS = 15

export async function swapStatus(
  { client, context }: Opened,
  { swapId: id, waitSeconds = 0 }: StatusInput,
  call: Call,
) {
  const { journal, interrupts } = context
  const { signal } = interrupts
  const attempt = journal.find(id)
  const swapId = attempt ? swapIdOf(attempt) : id
  if (attempt?.stage === 'submitting')
    throw new UserError('SUBMISSION_UNKNOWN', 'It is unknown whether the service accepted the swap.')
  if (swapId === undefined && attempt) throw notSubmitted(attempt, 'Nothing was submitted in this attempt.')
  const end = Date.now() + waitSeconds * 1_000
  let swap: StatusReply
  do {
    const hold = Math.min(HOLD_SECONDS, Math.max(0, end - Date.now()) / 1_000)
    swap = await client.status(swapId ?? id, { waitSeconds: Math.floor(hold * 10) / 10, signal })
    call.report(swap.substatus)
  } while (swap.status === 'pending' && Date.now() < end)
  if (attempt && attempt.stage !== 'ended' && swap.status !== 'pending')
    journal.record(attempt, toEnd(attempt, swap.status))
  if (attempt) return toOrderView(swap, attempt.order)
  const catalog = await readCatalog(client, signal)
  return toSwapView(swap, {
    from: findSide(catalog, swap.originChain),
    to: findSide(catalog, swap.destinationChain),
  })
}

export async function swapHistory({ client, context }: Opened, { wallet, ...query }: HistoryInput) {
  const { signal } = context.interrupts
  const address = wallet === undefined ? undefined : findAddress(context, wallet)
  const [catalog, page] = await Promise.all([
    readCatalog(client, signal) as Promise<Catalog>,
    client.history({ ...query, wallet: address }, { signal }),
  ])
  return {
    swaps: page.swaps.map((record) => toRecordView(record, catalog)),
    nextCursor: page.nextCursor,
  }
}

function findAddress({ wallets }: Opened['context'], text: string): string {
  if (text.includes(':') || parseAnyAddress(text) !== undefined) return text
  const found = wallets.find(text)
  if (found) return found.address
  const names = wallets.list().map(({ name }) => name)
  throw new UserError('NO_WALLET', `${text} is neither an address nor a wallet.`, {
    advice: `There are ${names.join(', ') || 'no wallets'}; any address is accepted as well.`,
  })
}
