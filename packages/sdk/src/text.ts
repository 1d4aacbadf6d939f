// Control characters, escape sequences, bidirectional marks and line breaks.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]+/gu
const MAX_LENGTH = 500

/** Makes the service's text safe to display: no control characters, and a limited length. */
export function plainText(text: string): string {
  const plain = text.replace(INVISIBLE, ' ')
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain
}
