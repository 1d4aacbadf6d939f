/** The content security policy: the page may use this server and exactly these origins. */
export function pagePolicy(origins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // Wallets of the browser bring their icons as data.
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

export function originsOf(urls: readonly (string | undefined)[]): string[] {
  return [...new Set(urls.filter((url) => url !== undefined).map((url) => new URL(url).origin))]
}
