import { z } from 'zod'

const side = (what: string) =>
  z
    .string()
    .describe(
      `${what}, as CHAIN:TOKEN: a chain by name or id, a token by symbol or address: alpha:USDC. Or as CAIP-19`,
    )
const amount = (what: string) =>
  z.string().describe(`${what}, in whole tokens as decimal text: "10" or "0.25"`)

const order = {
  from: side('The token to pay'),
  to: side('The token to buy'),
  amount: amount('The amount to pay, or "max" for the whole balance. Either this or receive').optional(),
  receive: amount(
    'The exact amount to receive; the quote says what it costs. Either this or amount',
  ).optional(),
  recipient: z
    .string()
    .optional()
    .describe(
      'Address, CAIP-10 account or own wallet that receives the output. Default: the paying wallet. ' +
        'Other recipients must be allowed.',
    ),
  wallet: z
    .string()
    .optional()
    .describe('Name of the own wallet that pays. Default: the usual one of that chain.'),
  slippageBps: z
    .number()
    .int()
    .min(1)
    .max(5_000)
    .optional()
    .describe('50 is 0.5 %. Default: chosen by the service.'),
  maxEtaSeconds: z.number().int().min(1).max(86_400).optional().describe('Refuse a swap that takes longer.'),
}

export const inputs = {
  listTokens: { chain: z.string().optional().describe('Only of this chain, by name, id or CAIP-2.') },
  getBalance: {
    wallet: z
      .string()
      .optional()
      .describe('Name of an own wallet, or any address or CAIP-10 account. Default: the usual wallets.'),
    chain: z.string().optional().describe('Only on this chain, by name, id or CAIP-2.'),
  },
  quote: order,
  execute: {
    ...order,
    minReceive: amount('Refuse if less than this is guaranteed').optional(),
    maxPay: amount('Refuse if more than this is paid').optional(),
    method: z
      .enum(['delegation', 'authorization', 'permit'])
      .optional()
      .describe('How the input comes in, on an EVM chain. Default: the cheapest way.'),
    confirmationToken: z
      .string()
      .optional()
      .describe(
        'From the answer confirmation_required to exactly this order. Only after the user has agreed.',
      ),
  },
  status: {
    swapId: z.string().describe('swp_… of a swap, or att_… of an attempt.'),
    waitSeconds: z
      .number()
      .min(0)
      .max(60)
      .optional()
      .describe('Wait up to this long for the end. Default: 0.'),
  },
  history: {
    limit: z.number().int().min(1).max(100).optional().describe('Absent: 20.'),
    cursor: z.string().optional().describe('nextCursor of the previous page.'),
    wallet: z.string().optional().describe('Only swaps that this wallet paid: a name or an address.'),
    status: z.enum(['pending', 'settled', 'failed', 'refunded']).optional(),
    from: z.string().optional().describe('Created at this time or later, ISO 8601 UTC.'),
    to: z.string().optional().describe('Created before this time, ISO 8601 UTC.'),
  },
}

export type OrderInput = z.infer<z.ZodObject<typeof order>>
export type ExecuteInput = z.infer<z.ZodObject<typeof inputs.execute>>
export type HistoryInput = z.infer<z.ZodObject<typeof inputs.history>>

const money = z.object({
  amount: z.string().optional().describe('In whole tokens. Absent if the token is not known.'),
  units: z.string().describe('In the smallest unit.'),
  symbol: z.string().optional(),
  token: z.string().optional(),
  chain: z.string(),
  chainId: z.number(),
})
export type Money = z.infer<typeof money>

const swap = {
  swapId: z.string(),
  status: z.enum(['pending', 'settled', 'failed', 'refunded']),
  substatus: z.string(),
  pay: money,
  receive: money.describe('The delivered amount; before the delivery, the quoted one.'),
  minReceive: money,
  wallet: z.string().optional(),
  recipient: z.string().optional(),
  lockTx: z.string().optional(),
  deliveryTx: z.string().optional(),
  refundTx: z.string().optional(),
  depositAddress: z.string().optional().describe('Present if the swap is paid by a deposit.'),
  received: money.optional().describe('What lay there when last seen.'),
  next: z.string().optional().describe('What to send, or what happens to a deposit that is not swapped.'),
  returnTxs: z.array(z.string()).optional().describe('Sent back from there to the wallet.'),
  reason: z.string().optional().describe('The reason of a failure or refund.'),
  createdAt: z.string(),
  updatedAt: z.string(),
}
export type SwapView = z.infer<z.ZodObject<typeof swap>>

const quote = {
  pay: money,
  receive: money,
  minReceive: money.describe('The guaranteed amount.'),
  wallet: z.string(),
  recipient: z.string(),
  payUsd: z.string().optional(),
  receiveUsd: z.string().optional(),
  priceImpactBps: z.number().optional().describe('Negative if value is lost.'),
  fees: z.array(z.object({ kind: z.string(), pay: money })),
  etaSeconds: z.number(),
  warnings: z.array(z.string()),
}
export type QuoteView = z.infer<z.ZodObject<typeof quote>>

const confirmation = z.object({
  confirmationToken: z
    .string()
    .describe('Pass it to execute_swap, with the same order, after the user has agreed.'),
  expiresAt: z.string(),
  reasons: z.array(z.string()),
  maxPay: money.describe('The user confirms to pay at most this …'),
  minReceive: money.describe('… for at least this.'),
})

export const outputs = {
  chains: {
    chains: z.array(
      z.object({
        chain: z.string(),
        chainId: z.number(),
        family: z.enum(['evm', 'solana']),
        coin: z.string(),
        available: z.boolean(),
        reason: z.string().optional(),
      }),
    ),
  },
  tokens: {
    tokens: z.array(
      z.object({
        id: z
          .string()
          .describe('The form that from and to take. It has the address if the symbol is not unique.'),
        chain: z.string(),
        chainId: z.number(),
        symbol: z.string(),
        address: z.string(),
        decimals: z.number(),
        canPay: z.boolean(),
        canReceive: z.boolean(),
        priceUsd: z.string().optional(),
      }),
    ),
  },
  balance: { balances: z.array(money.extend({ owner: z.string() })) },
  quote: {
    ...quote,
    allowed: z.boolean().describe('Whether execute_swap would do it.'),
    refusal: z.string().optional().describe('The code of the refusal, if not allowed.'),
    confirmationReasons: z
      .array(z.string())
      .describe('Why it would ask for confirmation; empty if it would not.'),
  },
  /** Two shapes in one object, because a tool has a single output schema. */
  execute: {
    outcome: z
      .enum(['settled', 'failed', 'refunded', 'pending', 'confirmation_required'])
      .describe('pending: it continues, poll swap_status. failed, refunded: the input is in the wallet.'),
    swap: z.object(swap).optional(),
    quote: z.object(quote).optional(),
    confirmation: confirmation.optional(),
  },
  deposit: {
    swapId: z.string().describe('Poll swap_status with it.'),
    depositAddress: z.string(),
    send: money.describe('Exactly this, once, to depositAddress.'),
    until: z.string().describe('A later transfer goes back to the wallet.'),
    quote: z.object(quote),
  },
  status: swap,
  history: { swaps: z.array(z.object(swap)), nextCursor: z.string().optional() },
}
