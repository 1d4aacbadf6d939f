import type { Client, StatusReply } from '@geoswap/sdk'
import { type Context, connect } from '@geoswap/wallet/context'
import { resumeWith, UserError } from '@geoswap/wallet/errors'
import { type Attempt, swapIdOf } from '@geoswap/wallet/store/journal'
import { idsOf, toEnd } from '@geoswap/wallet/swap/claim'
import { followAttempt, followSwap, notSubmitted } from '@geoswap/wallet/swap/follow'
import { defineCommand } from '../command.ts'
import { swapLines } from '../print.ts'

export const status = defineCommand({
  usage: 'ID [--wait]',
  about: `Shows the status of a swap. ID is a swapId, or the att_… that an interrupted swap printed.
--wait follows it to its end; for an attempt whose submission may not have arrived it sends the same
submission again, which creates at most one swap.
Exit code 0: settled, or pending. 2: failed or refunded.`,
  words: [1, 1],
  options: {
    wait: { type: 'boolean', about: 'wait until the swap has ended' },
    raw: { type: 'boolean', about: 'amounts are integers in the smallest unit' },
  },
  examples: ['swp_4f1c0d6a9b7e42c3a5d8e0f1b2c3d4e5', 'att_5f2c9a7be1d40836 --wait'],

  async run(context, { values, words: [id = ''] }) {
    const attempt = context.journal.find(id)
    if (!attempt && id.startsWith('att_')) throw new UserError('USAGE', `The journal has no attempt ${id}.`)
    const client = connect(context)
    const read = values.wait ? follow : readNow
    const swap = await read(context, client, attempt ?? id)
    context.terminal.result(swapLines(swap, attempt?.order, { raw: values.raw ?? false }), {
      ...swap,
      ...(attempt && idsOf(attempt)),
    })
    return swap.status === 'failed' || swap.status === 'refunded' ? 2 : 0
  },
})

function follow(context: Context, client: Client, of: Attempt | string): Promise<StatusReply> {
  return typeof of === 'string'
    ? followSwap(context, client, { swapId: of })
    : followAttempt(context, client, of)
}

async function readNow(
  { journal, interrupts }: Context,
  client: Client,
  of: Attempt | string,
): Promise<StatusReply> {
  const { signal } = interrupts
  if (typeof of === 'string') return client.status(of, { signal })
  const swapId = swapIdOf(of)
  if (of.stage === 'submitting') throw unknown(of.id)
  if (swapId === undefined) throw notSubmitted(of, 'Nothing was submitted in this attempt.')
  const swap = await client.status(swapId, { signal })
  if (swap.status !== 'pending') journal.record(of, toEnd(of, swap.status))
  return swap
}

function unknown(attempt: string): UserError {
  const message = 'It is unknown whether the service accepted the swap.'
  const advice = `${resumeWith(attempt)} sends the same submission again and follows its swap.`
  return new UserError('SUBMISSION_UNKNOWN', message, { advice, details: { attempt } })
}
