import { isReply } from '@geoswap/wire/is-reply'

/**
 * A fetch that passes on replies of the form that the service promises, and nothing else of a success: what a tool
 * returns is read by a model.
 */
export function createCheckedFetch(ask: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await ask(input, init)
    if (!response.ok) return response
    const text = await response.text()
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    const isRight = isReply({ method: init?.method ?? 'GET', path: pathname }, parse(text))
    const { status, headers } = response
    return isRight ? new Response(text, { status, headers }) : new Response('', { status: 200 })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
