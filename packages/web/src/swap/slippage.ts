/** The choices of the form, in percent. Empty text lets the service choose. */
export const SLIPPAGES = ['', '0.1', '0.5', '1', '3'] as const

const MAX_BPS = 5_000
// More than this is rarely meant.
const HIGH_BPS = 500
// The service's own for equal assets: named by the page, so that the SDK holds the service to it.
const SAME_ASSET_BPS = 50

/** Basis points of a percentage as people write it, with up to two decimals. Undefined if invalid. */
export function readSlippage(text: string): number | undefined {
  const [, whole, fraction = ''] = /^(\d{1,2})(?:[.,](\d{0,2}))?\s*%?$/.exec(text.trim()) ?? []
  if (whole === undefined) return undefined
  const bps = Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
  return bps >= 1 && bps <= MAX_BPS ? bps : undefined
}

/** The slippage of a request; undefined leaves it to the service. */
export function slippageOf(text: string, isSameAsset: boolean): number | undefined {
  if (text.trim() === '') return isSameAsset ? SAME_ASSET_BPS : undefined
  return readSlippage(text)
}

/** A problem or a warning about the typed slippage. */
export function slippageNote(text: string): string | undefined {
  if (text.trim() === '') return undefined
  const bps = readSlippage(text)
  if (bps === undefined) return 'Slippage is a percentage from 0.01 to 50.'
  if (bps > HIGH_BPS) return `You may receive up to ${bps / 100} % less than the price shows.`
  return undefined
}
