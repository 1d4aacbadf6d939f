// Control characters, escape sequences, marks that turn text around, and ends of lines.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]+/gu
const MAX_LENGTH = 500

/** Text of the service as it can be shown: it moves no cursor, hides nothing, and does not go on without end. */
export function plainText(text: string): string {
  const plain = text.replace(INVISIBLE, ' ')
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain
}
