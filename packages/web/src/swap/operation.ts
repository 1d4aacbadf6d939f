type Fields = Readonly<Record<string, unknown>>

/**
 * Every field of an operation, nested ones with their path; of typed data only the hashed values, not the
 * types.
 */
export function fieldsOf(operation: unknown): { name: string; value: string }[] {
  const { message, domain, ...own } = operation as Fields
  return message === undefined ? flatten(own) : flatten({ ...(message as Fields), domain })
}

function flatten(fields: Fields, path = ''): { name: string; value: string }[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const name = path ? `${path}.${key}` : key
    return isFields(value) ? flatten(value, name) : [{ name, value: String(value) }]
  })
}

/** In seconds. Only an operation on an EVM chain has a refund that anyone can send. */
export function deadlinesOf(operation: unknown): { fill?: number; refund?: number } {
  const { message, delivery } = operation as Fields
  const own = isFields(message) ? message : {}
  const nested = own['delivery'] ?? delivery
  return {
    ...(isFields(nested) && { fill: Number(nested['fillDeadline']) }),
    ...(own['refundDeadline'] !== undefined && { refund: Number(own['refundDeadline']) }),
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
