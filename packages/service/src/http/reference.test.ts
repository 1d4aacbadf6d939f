import { createHash } from 'node:crypto'
import { createOpenApi, type Endpoint, endpoints, errorCatalogue, withoutReferences } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { createTestServer } from '../../test/support/http-server.ts'
import { type OpenApi, renderReference } from './reference.ts'

const document = withoutReferences(createOpenApi({ serverUrl: '/' })) as OpenApi
const render = (shown: OpenApi) => renderReference(shown, { openApiUrl: '/openapi.json', style: '' })
const page = render(document)

test('the reference has every call with its parameters, fields and errors', () => {
  for (const { id, method, path, summary, errors } of Object.values(endpoints)) {
    const section = page.split(`<h2 id="${id}">`)[1]?.split('</section>')[0] ?? ''
    const operation = document.paths[path]?.[method.toLowerCase()]
    const fields = Object.values(operation?.requestBody?.content ?? {}).flatMap(({ schema }) =>
      Object.keys(schema.properties ?? {}),
    )
    const names = [...(operation?.parameters ?? []).map(({ name }) => name), ...fields]

    expect(section).toContain(`<b>${method}</b> ${path}`)
    expect(page).toContain(`<a href="#${id}">${summary.replaceAll("'", '&#39;')}</a>`)
    for (const name of names) expect(section).toContain(`<code>${name}</code>`)
    for (const code of errors)
      expect(section).toMatch(new RegExp(`${errorCatalogue[code].status}</code></th><td>${code}: `))
  }
})

test('nested fields are shown by their path, with type, required and bounds', () => {
  expect(page).toContain(
    '<code>fees[].kind</code></th><td>one of, required</td><td>serviceFee, originNetwork',
  )
  expect(page).toContain('<code>slippageBps</code></th><td>integer</td><td>Default 50 between equal assets')
  expect(page).toContain('(at least 1; at most 5000)')
  expect(page).toContain('<p>string: Server-sent events: ')
  expect(page).not.toContain('<code></code>')
  expect(page).toContain('<code>webhook-signature</code></th><td>header, string, required</td>')
})

test('descriptions cannot inject code', () => {
  const evil = '<img src=x onerror="alert(1)"><script>alert(1)</script>'
  const told = structuredClone(document)
  told.info.description = evil
  for (const methods of Object.values(told.paths))
    for (const operation of Object.values(methods)) {
      operation.summary = evil
      operation.description = evil
    }

  for (const html of [page, render(told)]) {
    expect(html).not.toMatch(/<(script|img|iframe|object|link|form)/i)
    expect(html).not.toMatch(/<[^>]*\son\w+=/i)
    expect(html).not.toMatch(/(src|href|url)["'=: ]+(https?:)?\/\//)
  }
})

test('each call has an example request, which a shell takes, and an example reply', () => {
  for (const { id, path, example, body } of Object.values<Endpoint>(endpoints)) {
    const section = page.split(`<h2 id="${id}">`)[1]?.split('</section>')[0] ?? ''
    const shown = [...section.matchAll(/<pre tabindex="0">([^<]*)<\/pre>/g)].map(([, text = '']) =>
      textOf(text),
    )
    const [request = '', reply = ''] = shown

    expect(shown).toHaveLength(2)
    expect(section.match(/<button type="button" class="copy" hidden>/g)).toHaveLength(2)
    expect(request).toMatch(new RegExp(`^curl "\\$GEOSWAP_URL${path.replace(/\/\{.*/, '')}`))
    expect(request).not.toMatch(/[{]\w+[}]/)
    expect(request.split("'").length % 2).toBe(1)
    for (const [name, value] of Object.entries(example.query ?? {}))
      expect(request).toContain(`${name}=${encodeURIComponent(value)}`)
    if (body) expect(JSON.parse(request.split("'")[3] ?? '')).toEqual(example.body)
    expect(typeof example.reply === 'string' ? reply : JSON.parse(reply)).toEqual(example.reply)
  }
})

const textOf = (html: string) =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

test('/docs has one script, which only copies, and its policy forbids any other and every call', async () => {
  const { app } = await createTestServer()
  const replies = await Promise.all(['/docs', '/docs/'].map((url) => app.inject({ url })))

  for (const { statusCode, headers, body } of replies) {
    const policy = String(headers['content-security-policy'])
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; script-src 'sha256-[\w+/]{43}='; require-trusted-types/,
    )
    expect(policy).not.toMatch(/connect-src|unsafe|\*|self/)
    const [, script = '', rest = ''] = body.split(/<script>|<\/script>/)
    expect(policy).toContain(createHash('sha256').update(script).digest('base64'))
    expect(script).not.toMatch(/Storage|cookie|fetch|location|open\(/)
    expect(rest).not.toContain('<script')
    expect(body.length).toBeLessThan(200_000)
  }
  expect((await app.inject({ url: '/docs/js/scalar.js' })).statusCode).toBe(404)
})
