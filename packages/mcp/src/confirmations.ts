import { randomBytes } from 'node:crypto'
import { UserError } from '@geoswap/wallet/errors'
import { plain } from '@geoswap/wallet/plain'

/** The terms that the user confirmed: the swap may be no worse. */
export type Terms = { minOutput: bigint; maxInput: bigint }

type Asked = { order: string; terms: Terms; question: string; expiresAt: number }

export type Confirmations = ReturnType<typeof createConfirmations>

const LIFE_MS = 5 * 60_000

/** Tokens for clients that cannot ask their user directly. Each is bound to one order and used once. */
export function createConfirmations(now: () => number = Date.now) {
  const open = new Map<string, Asked>()

  return {
    ask(order: string, terms: Terms, question: string): { token: string; expiresAt: number } {
      for (const [token, { expiresAt }] of open) if (expiresAt <= now()) open.delete(token)
      const token = `confirm_${randomBytes(16).toString('hex')}`
      const expiresAt = now() + LIFE_MS
      open.set(token, { order, terms, question: plain(question), expiresAt })
      return { token, expiresAt }
    },

    /** The question that the token answers; undefined if it is of no use. */
    questionOf(token: string): string | undefined {
      const asked = open.get(token)
      return asked && asked.expiresAt > now() ? asked.question : undefined
    },

    /** Presenting a token with its order uses it up; with another order it stays. */
    take(token: string, order: string): Terms {
      const asked = open.get(token)
      if (asked === undefined || asked.expiresAt <= now())
        throw invalid('The confirmation is unknown, was used, or has expired.')
      if (asked.order !== order)
        throw invalid(
          'The confirmation is for another order.',
          'Repeat exactly the order that was confirmed.',
        )
      open.delete(token)
      return asked.terms
    },
  }
}

function invalid(
  message: string,
  advice = 'Call the same tool without it to get another one, and ask the user again.',
): UserError {
  return new UserError('CONFIRMATION_INVALID', message, { advice })
}
