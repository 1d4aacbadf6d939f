const MOST_QUOTED = 40

/** A stranger's text in ours: cut, and without characters that change how it is shown. */
export function quoteStranger(text: string): string {
  const shown = text.slice(0, MOST_QUOTED).replace(/[^\x20-\x7e]/g, '?')
  return text.length > MOST_QUOTED ? `${shown}…` : shown
}
