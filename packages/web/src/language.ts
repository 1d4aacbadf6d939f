import { markOf } from './amount-text.ts'

/** How this user writes fractions. */
export const decimalMark = markOf(navigator.language)
