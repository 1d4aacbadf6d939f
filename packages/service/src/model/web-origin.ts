/** Whether the text is a web origin in the form that browsers send: scheme, host and port, without a path. */
export function isWebOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin, protocol } = new URL(text)
  return origin === text && (protocol === 'https:' || protocol === 'http:')
}
