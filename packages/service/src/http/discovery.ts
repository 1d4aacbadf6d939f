import { hash } from 'node:crypto'
import { agentCard, agentRegistration, type Deployment, skillIndex } from '@geoswap/wire'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../errors.ts'
import { guides } from './guides.gen.ts'

const NAMES = ['agent-card.json', 'agent-registration.json', 'agent-skills/index.json'] as const
const pathOf = (name: string) => `/.well-known/${name}`
export const DISCOVERY_PATHS: readonly string[] = NAMES.map(pathOf)

type Options = { basePath: string; deployment: Deployment | undefined; takesX402: boolean }

/**
 * Adds the documents by which machines find the service, at the root of the host, where they look for them, and under
 * the prefix. A request changes nothing in them: their URLs are those of the configuration.
 */
export function addDiscovery(app: FastifyInstance, { basePath, deployment, takesX402 }: Options): void {
  const bodies = {
    'agent-card.json': deployment && agentCard(deployment),
    'agent-registration.json': deployment && agentRegistration(deployment, takesX402),
    'agent-skills/index.json': skillIndex(skillsUnder(basePath)),
  }
  for (const prefix of new Set(['', basePath]))
    for (const name of NAMES) {
      const body = bodies[name] && Buffer.from(JSON.stringify(bodies[name]))
      app.route({
        method: ['GET', 'HEAD'],
        url: `${prefix}${pathOf(name)}`,
        handler: async (_request, reply) => {
          if (!body) throw notPublished()
          return reply.type('application/json; charset=utf-8').send(body)
        },
      })
    }
}

function notPublished(): ServiceError {
  const message =
    'The operator has not published this: `discovery` is not in the configuration of the service.'
  return new ServiceError('NOT_FOUND', { message })
}

const SKILL = /^\/skills\/([a-z0-9-]+)\/SKILL\.md$/
const DESCRIPTION = /^---\n(?:.*\n)*?description: (.+)\n/

/** The served skills, each with the digest of the bytes that are sent. */
function skillsUnder(basePath: string) {
  return Object.entries(guides).flatMap(([path, text]) => {
    const [, name] = SKILL.exec(path) ?? []
    const [, description] = DESCRIPTION.exec(text) ?? []
    if (!name || !description) return []
    return [{ name, description, url: `${basePath}${path}`, sha256: hash('sha256', text, 'hex') }]
  })
}
