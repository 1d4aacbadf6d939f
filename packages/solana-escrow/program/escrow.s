# The escrow program of geoswap, for sBPF version 3.
#
# terms      wallet, vault, attester, rent receiver, op id (32 bytes each), refund deadline (i64), amount (u64): 176
#            bytes
# authority  the address of this program with the seed SHA-256(terms). The input lies in a token account of it, SOL as
#            wrapped SOL. A lock needs no instruction of ours.
# op id      of a delivery: the EIP-712 hash of ring, index, destination chain, vault, mint (zeros for SOL), least
#            amount, recipient and fill deadline, which the wallet signed
# marker     the address of this program with the seeds vault and op id, by the first bump that gives one. 112 bytes:
#            payer, fill deadline, amount, mint (the System program for SOL), recipient
#
# refund 0, claim 1; 2 and 3 without returning the rent
#   data      tag, bump, terms
#   accounts  authority, source, destination, mint, token program, rent receiver, attester; of a claim also where the
#             rest goes
#             SOL: destination and rest are the wallet or the vault itself, the System program is in the mint's place
#             2 after the deadline: the wallet may stand in the attester's place
# deliver 4
#   data      tag, op id, ring, index, destination chain, least amount, fill deadline (32 bytes each, numbers with the
#             highest byte first), amount (u64), lamports of the marker (u64)
#   accounts  vault, source, destination, mint, token program, payer, marker, System program
#             SOL: the System program is in the place of the token program
# sweep 5
#   data      tag
#   accounts  marker, payer
#
# Each block checks, and why:
#
# entrypoint   At most 8 accounts. An account named twice is read at its first place: roles may share an address.
# dispatch     The length of the data; each instruction has one. The instruction compares its tag.
# payout       7 accounts, 8 of a claim. The authority is the address of the terms: the later checks trust them. The
#              rent receiver is that of the terms. The token program is Token or Token-2022: the authority signs for it.
#              The source belongs to both, with 165 bytes or more: its amount is read. The attester signed, or it is a
#              refund and the clock is past the deadline.
# unattested   Only the wallet, by its signature, keeps the rent: a stranger would take it from its payer.
# permitted    The destination belongs to the wallet (refund) or the vault (claim). The token program checks mint, state
#              and balance. A claim pays the amount of the terms; the rest goes to the wallet.
# pay_native   The destination is the wallet or the vault. A claim does not take the amount from the rent.
# deliver      8 accounts. Vault and payer signed. The token program is Token, Token-2022 or, for SOL, the System
#              program: a marker means that a real program paid. The op id is the hash of what is paid, so another
#              deadline, token or recipient is another op. The amount is no less than the least. The clock is not past
#              the fill deadline. The marker is the address of vault and op, of which there is one, and belongs to the
#              System program: once for each vault and op.
# funded       Allocates and assigns, since strangers may have sent the marker lamports.
# sweep        2 accounts. This program owns the marker. The payer is that of the marker. The clock is past the fill
#              deadline and two days: no delivery of the op can happen any more.
#
# Registers that stay the same from `dispatch` on: r6 the data of the instruction, r8 the workspace. In `payout` r7 is
# the tag. r9 is the address of the program id until a block says otherwise. Calls keep r6 to r9.

# An account as the loader lays it out.
.equ DUPLICATE, 0
.equ SIGNER, 1
.equ KEY, 8
.equ OWNER, 40
.equ LAMPORTS, 72
.equ LENGTH, 80
.equ DATA, 88
.equ UNIQUE, 255
# Fixed fields, data, room to grow, up to the next multiple of eight. The rent epoch follows.
.equ AFTER_DATA, DATA + 10240 + 7

# A token account and a mint, from the start of the account.
.equ TOKEN_OWNER, DATA + 32
.equ TOKEN_AMOUNT, DATA + 64
.equ TOKEN_NATIVE, DATA + 109
.equ TOKEN_ACCOUNT_BYTES, 165
.equ MINT_DECIMALS, DATA + 44

# A marker, from the start of the account.
.equ MARKER_PAYER, DATA + 0
.equ MARKER_DEADLINE, DATA + 32
.equ MARKER_AMOUNT, DATA + 40
.equ MARKER_MINT, DATA + 48
.equ MARKER_RECIPIENT, DATA + 80
.equ MARKER_BYTES, 112
.equ SWEEP_MARGIN, 172800

# The data of our instructions.
.equ TAG, 0
.equ BUMP, 1
.equ TERMS, 2
.equ TERMS_BYTES, 176
.equ WALLET, TERMS + 0
.equ ATTESTER, TERMS + 64
.equ RENT_RECEIVER, TERMS + 96
.equ REFUND_DEADLINE, TERMS + 160
.equ INPUT_AMOUNT, TERMS + 168
.equ PAYOUT_BYTES, TERMS + TERMS_BYTES
.equ OP_ID, 1
.equ RING_INDEX_CHAIN, 33
.equ LEAST_AMOUNT, 129
.equ DEADLINE_WORD, 161
.equ AMOUNT, 193
.equ MARKER_LAMPORTS, 201
.equ DELIVER_BYTES, 209
# The last eight bytes of a number of 32.
.equ LOW, 24
.equ SWEEP_BYTES, 1
.equ CLAIM_BIT, 1
.equ KEEP_RENT_BIT, 2
.equ LAST_PAYOUT, 3
.equ DELIVER, 4
.equ SWEEP, 5

# The workspace: the heap, which begins as zeros. SYSTEM_ID is never written: zeros are the id of the System program.
.equ HEAP, 0x300000000
.equ COUNT, 0
.equ ACCOUNTS, 8
.equ INFOS, 72
.equ CALL, 520
.equ CALL_PROGRAM, CALL + 0
.equ CALL_METAS, CALL + 8
.equ CALL_META_COUNT, CALL + 16
.equ CALL_DATA, CALL + 24
.equ CALL_LENGTH, CALL + 32
.equ SYSTEM_ID, 560
.equ SIGNERS, 592
.equ SEED_COUNT, SIGNERS + 8
.equ SEED_0, 608
.equ SEED_1, 624
.equ SEED_2, 640
.equ HASH, 656
.equ ADDRESS, 688
.equ CLOCK, 720
.equ UNIX_TIME, CLOCK + 32
.equ META_0, 760
.equ META_1, 776
.equ META_2, 792
.equ META_3, 808
.equ INPUT, 824
.equ TYPE_HASH, 864
.equ PART_0, 896
.equ PART_1, 912
.equ PART_2, 928
.equ PART_3, 944
.equ PART_4, 960
.equ PART_5, 976
.equ PART_6, 992
.equ PAID_MINT, PART_3
.equ PAID_TO, PART_5
.equ PARTS, 7
.equ FOUND_BUMP, 1008
.equ PAID_LAMPORTS, 1016
.equ MAX_ACCOUNTS, 8

# The entry of an account in the list that a call takes.
.equ INFO_KEY, INFOS + 0
.equ INFO_LAMPORTS, INFOS + 8
.equ INFO_LENGTH, INFOS + 16
.equ INFO_DATA, INFOS + 24
.equ INFO_OWNER, INFOS + 32
.equ INFO_FLAGS, INFOS + 48
.equ INFO_BYTES, 56

# Accounts of claim, refund and deliver, as places of their pointers in the workspace.
.equ AUTHORITY, ACCOUNTS + 0
.equ SOURCE, ACCOUNTS + 8
.equ DESTINATION, ACCOUNTS + 16
.equ MINT, ACCOUNTS + 24
.equ TOKEN_PROGRAM, ACCOUNTS + 32
# Of claim and refund.
.equ PAYOUT_ACCOUNTS, 7
.equ RECEIVER_OF_RENT, ACCOUNTS + 40
.equ WHO_ATTESTS, ACCOUNTS + 48
# Of claim.
.equ REST, ACCOUNTS + 56
# Of deliver; the eighth is the System program.
.equ DELIVER_ACCOUNTS, 8
.equ PAYER, ACCOUNTS + 40
.equ MARKER, ACCOUNTS + 48
# Of sweep.
.equ SWEEP_ACCOUNTS, 2
.equ SWEPT, ACCOUNTS + 0
.equ SWEPT_TO, ACCOUNTS + 8

# Flags of an account in a call.
.equ READ, 0x000
.equ WRITE, 0x001
.equ SIGN, 0x100
.equ WRITE_SIGN, 0x101

# The ids of Token and Token-2022, as four words each.
.equ TOKEN_A, 0x93a165d7e1f6dd06
.equ TOKEN_B, 0xac79ebce46e1cbd9
.equ TOKEN_C, 0x91375b5fed85b41c
.equ TOKEN_D, 0xa900ff7e85f58c3a
.equ TOKEN_2022_A, 0xde8f75eee1f6dd06
.equ TOKEN_2022_B, 0xdacd6ce4bc5d4218
.equ TOKEN_2022_C, 0x270db9834dfc1ab6
.equ TOKEN_2022_D, 0xfc8ba1d828f9bdfe

# The type hash of a delivery, as four words.
.equ DELIVERY_A, 0x58a382af8010530f
.equ DELIVERY_B, 0x55d830c493ff2aa1
.equ DELIVERY_C, 0x7799a3a36451879d
.equ DELIVERY_D, 0xec04b35c9768b66c

# Instructions of other programs.
.equ SYSTEM_ASSIGN, 1
.equ SYSTEM_TRANSFER, 2
.equ SYSTEM_ALLOCATE, 8
.equ TOKEN_CLOSE, 9
.equ TOKEN_TRANSFER_CHECKED, 12

# r1 = the place of a field of an account
.macro field account, offset
  ldxdw r1, [r8 + \account]
  add64 r1, \offset
.endm

# r2 = the place of a field of the data
.macro given offset
  mov64 r2, r6
  add64 r2, \offset
.endm

# fails unless the keys at r1 and r2 are equal
.macro same_keys failure
  call compare_keys
  jne r0, 0, \failure
.endm

# an account of the call to come
.macro meta place, account, flags
  ldxdw r1, [r8 + \account]
  add64 r1, KEY
  stxdw [r8 + \place], r1
  sth [r8 + \place + 8], \flags
.endm

# a seed of the program's signature
.macro seed place, length
  stxdw [r8 + \place], r2
  stdw [r8 + \place + 8], \length
.endm

# a part of the bytes that are hashed, at r1
.macro part place, length
  stxdw [r8 + \place], r1
  stdw [r8 + \place + 8], \length
.endm

# r1 = the place of a field of the data
.macro told offset
  mov64 r1, r6
  add64 r1, \offset
.endm

# a word of the type hash
.macro type offset, word
  lddw r2, \word
  stxdw [r8 + TYPE_HASH + \offset], r2
.endm

.macro refuse label, code
\label:
  mov64 r0, \code
  exit
.endm

.globl entrypoint
entrypoint:
# Reads the accounts: a pointer to each, and what a call to another program needs to know of it.
  lddw r8, HEAP
  ldxdw r2, [r1 + 0]
  jgt r2, MAX_ACCOUNTS, wrong_account_count
  stxdw [r8 + COUNT], r2
  mov64 r5, r2
  mov64 r6, r1
  add64 r6, 8
  mov64 r7, r8
  mov64 r9, r8
next_account:
  jeq r5, 0, dispatch
  ldxb r2, [r6 + DUPLICATE]
  jne r2, UNIQUE, duplicate
  mov64 r3, r6
  ldxdw r2, [r6 + LENGTH]
  add64 r6, r2
  add64 r6, AFTER_DATA
  and64 r6, -8
  ja place
# An account named twice: its first place is the index in its first byte.
duplicate:
  lsh64 r2, 3
  add64 r2, r8
  ldxdw r3, [r2 + ACCOUNTS]
place:
  add64 r6, 8
  stxdw [r7 + ACCOUNTS], r3
  ldxw r2, [r3 + DUPLICATE]
  rsh64 r2, 8
  stxw [r9 + INFO_FLAGS], r2
  ldxdw r2, [r3 + LENGTH]
  stxdw [r9 + INFO_LENGTH], r2
  add64 r3, KEY
  stxdw [r9 + INFO_KEY], r3
  add64 r3, OWNER - KEY
  stxdw [r9 + INFO_OWNER], r3
  add64 r3, LAMPORTS - OWNER
  stxdw [r9 + INFO_LAMPORTS], r3
  add64 r3, DATA - LAMPORTS
  stxdw [r9 + INFO_DATA], r3
  add64 r7, 8
  add64 r9, INFO_BYTES
  sub64 r5, 1
  ja next_account

dispatch:
  ldxdw r7, [r6 + 0]
  add64 r6, 8
  mov64 r9, r6
  add64 r9, r7
# Where a call to another program finds its accounts, its data and our seeds.
  lddw r2, HEAP + META_0
  stxdw [r8 + CALL_METAS], r2
  lddw r2, HEAP + INPUT
  stxdw [r8 + CALL_DATA], r2
  lddw r2, HEAP + SEED_0
  stxdw [r8 + SIGNERS], r2
# The length names the kind of instruction; the tag has to agree.
  ldxdw r3, [r8 + COUNT]
  jeq r7, DELIVER_BYTES, deliver
  jeq r7, SWEEP_BYTES, sweep
  jne r7, PAYOUT_BYTES, wrong_data

payout:
  ldxb r7, [r6 + TAG]
  jgt r7, LAST_PAYOUT, wrong_data
  mov64 r2, r7
  and64 r2, CLAIM_BIT
  add64 r2, PAYOUT_ACCOUNTS
  jne r3, r2, wrong_account_count
# The authority is the address of these terms: all that follows may trust them.
  given TERMS
  seed SEED_0, TERMS_BYTES
  lddw r1, HEAP + SEED_0
  mov64 r2, 1
  lddw r3, HEAP + HASH
  call sol_sha256
  lddw r2, HEAP + HASH
  seed SEED_0, 32
  given BUMP
  seed SEED_1, 1
  stdw [r8 + SEED_COUNT], 2
  lddw r1, HEAP + SEED_0
  mov64 r2, 2
  mov64 r3, r9
  lddw r4, HEAP + ADDRESS
  call sol_create_program_address
  jne r0, 0, wrong_authority
  field AUTHORITY, KEY
  lddw r2, HEAP + ADDRESS
  same_keys wrong_authority
# The rent goes to the receiver of the terms.
  field RECEIVER_OF_RENT, KEY
  given RENT_RECEIVER
  same_keys wrong_rent_receiver
# The authority signs for Token and Token-2022 alone.
  call check_token_program
  jne r0, 0, wrong_token_program
# The source is a token account of the authority.
  field AUTHORITY, KEY
  mov64 r2, r1
  ldxdw r1, [r8 + SOURCE]
  call check_token_account
  jne r0, 0, wrong_source
# The attester signed, or this is a refund after the deadline.
  ldxdw r1, [r8 + WHO_ATTESTS]
  ldxb r2, [r1 + SIGNER]
  jeq r2, 0, unattested
  add64 r1, KEY
  given ATTESTER
  call compare_keys
  jeq r0, 0, permitted
unattested:
  jset r7, CLAIM_BIT, not_attested
  call read_clock
  ldxdw r2, [r6 + REFUND_DEADLINE]
  jsle r0, r2, too_early
# Keeping the rent takes it from the payer: the wallet signed, if it has to be.
  jeq r7, 0, permitted
  ldxdw r1, [r8 + WHO_ATTESTS]
  ldxb r2, [r1 + SIGNER]
  jeq r2, 0, rent_kept_unsigned
  add64 r1, KEY
  given WALLET
  same_keys rent_kept_unsigned
permitted:
# r9: the key that is paid, the wallet's or, 32 bytes after it, the vault's.
  mov64 r9, r7
  and64 r9, CLAIM_BIT
  lsh64 r9, 5
  add64 r9, r6
  add64 r9, WALLET
  ldxdw r1, [r8 + SOURCE]
  ldxw r2, [r1 + TOKEN_NATIVE]
  jeq r2, 1, pay_native

# Tokens: all of them, or the amount of a claim, to a token account of the receiver, and the rest of a claim to one of
# the wallet. Then the account closes to the receiver of the rent. With the bit to keep the rent it stays open, with the
# rest in it, so that neither an account that cannot close nor another receiver stops a payment.
  ldxdw r1, [r8 + DESTINATION]
  mov64 r2, r9
  call check_token_account
  jne r0, 0, wrong_destination
  ldxdw r1, [r6 + INPUT_AMOUNT]
  jset r7, CLAIM_BIT, pay_tokens
  ldxdw r1, [r8 + SOURCE]
  ldxdw r1, [r1 + TOKEN_AMOUNT]
pay_tokens:
  call transfer_tokens
  jset r7, KEEP_RENT_BIT, done
  ldxdw r9, [r8 + SOURCE]
  ldxdw r9, [r9 + TOKEN_AMOUNT]
  jeq r9, 0, close_tokens
  ldxdw r1, [r8 + REST]
  stxdw [r8 + DESTINATION], r1
  given WALLET
  call check_token_account
  jne r0, 0, wrong_destination
  mov64 r1, r9
  call transfer_tokens
close_tokens:
  field RECEIVER_OF_RENT, KEY
  call close_source
  ja done

# Wrapped SOL: the account closes to the authority, which pays the tokens' worth to the receiver itself, the rest of a
# claim to the wallet, and all that is left, the rent and lamports that strangers sent, to the receiver of the rent.
pay_native:
  field DESTINATION, KEY
  mov64 r2, r9
  same_keys wrong_destination
  ldxdw r1, [r8 + SOURCE]
  ldxdw r9, [r1 + TOKEN_AMOUNT]
  ldxdw r2, [r6 + INPUT_AMOUNT]
  jset r7, CLAIM_BIT, split_native
  mov64 r2, r9
split_native:
  jlt r9, r2, wrong_source
  sub64 r9, r2
  stxdw [r8 + PAID_LAMPORTS], r2
  field AUTHORITY, KEY
  call close_source
  ldxdw r1, [r8 + AUTHORITY]
  ldxdw r2, [r8 + DESTINATION]
  ldxdw r3, [r8 + PAID_LAMPORTS]
  call transfer_lamports
  jset r7, KEEP_RENT_BIT, done
  jeq r9, 0, return_rent
  field REST, KEY
  given WALLET
  same_keys wrong_destination
  ldxdw r1, [r8 + AUTHORITY]
  ldxdw r2, [r8 + REST]
  mov64 r3, r9
  call transfer_lamports
return_rent:
  ldxdw r1, [r8 + AUTHORITY]
  ldxdw r2, [r8 + RECEIVER_OF_RENT]
  ldxdw r3, [r1 + LAMPORTS]
  call transfer_lamports
  ja done

deliver:
  ldxb r2, [r6 + TAG]
  jne r2, DELIVER, wrong_data
  jne r3, DELIVER_ACCOUNTS, wrong_account_count
# The vault pays and the payer is paid back: both signed.
  ldxdw r1, [r8 + AUTHORITY]
  ldxb r2, [r1 + SIGNER]
  jeq r2, 0, vault_did_not_sign
  ldxdw r1, [r8 + PAYER]
  ldxb r2, [r1 + SIGNER]
  jeq r2, 0, payer_did_not_sign
# What is paid to whom: the System program in place of a token program means SOL.
  field MINT, KEY
  part PAID_MINT, 32
  ldxdw r1, [r8 + DESTINATION]
  add64 r1, TOKEN_OWNER
  part PAID_TO, 32
  call check_token_program
  jeq r0, 0, hash_op
  field TOKEN_PROGRAM, KEY
  lddw r2, HEAP + SYSTEM_ID
  same_keys wrong_token_program
  field TOKEN_PROGRAM, KEY
  stxdw [r8 + PAID_MINT], r1
  field DESTINATION, KEY
  stxdw [r8 + PAID_TO], r1
# The op id is the hash of it, so a marker is that of one deadline, token and recipient.
hash_op:
  type 0, DELIVERY_A
  type 8, DELIVERY_B
  type 16, DELIVERY_C
  type 24, DELIVERY_D
  lddw r1, HEAP + TYPE_HASH
  part PART_0, 32
  told RING_INDEX_CHAIN
  part PART_1, 96
  field AUTHORITY, KEY
  part PART_2, 32
  told LEAST_AMOUNT
  part PART_4, 32
  told DEADLINE_WORD
  part PART_6, 32
  lddw r1, HEAP + PART_0
  mov64 r2, PARTS
  lddw r3, HEAP + HASH
  call sol_keccak256
  lddw r1, HEAP + HASH
  given OP_ID
  same_keys wrong_op
# Not below the least amount, of which all but the low bytes are zeros.
  ldxdw r1, [r6 + LEAST_AMOUNT]
  jne r1, 0, too_little
  ldxdw r1, [r6 + LEAST_AMOUNT + 8]
  jne r1, 0, too_little
  ldxdw r1, [r6 + LEAST_AMOUNT + 16]
  jne r1, 0, too_little
  ldxdw r1, [r6 + LEAST_AMOUNT + LOW]
  be64 r1
  ldxdw r2, [r6 + AMOUNT]
  jlt r2, r1, too_little
# Not after the deadline.
  call read_clock
  ldxdw r2, [r6 + DEADLINE_WORD + LOW]
  be64 r2
  jsgt r0, r2, too_late
# The marker is the only address of this vault and op, and free. Where the chain finds none, the address stays zeros,
# which the System program does not own.
  field AUTHORITY, KEY
  mov64 r2, r1
  seed SEED_0, 32
  given OP_ID
  seed SEED_1, 32
  lddw r2, HEAP + FOUND_BUMP
  seed SEED_2, 1
  stdw [r8 + SEED_COUNT], 3
  lddw r1, HEAP + SEED_0
  mov64 r2, 2
  mov64 r3, r9
  lddw r4, HEAP + ADDRESS
  lddw r5, HEAP + FOUND_BUMP
  call sol_try_find_program_address
  field MARKER, KEY
  lddw r2, HEAP + ADDRESS
  same_keys wrong_marker
  field MARKER, OWNER
  lddw r2, HEAP + SYSTEM_ID
  same_keys already_delivered
# Creates the marker. Strangers may have sent it lamports: only the rest of its rent is paid.
  ldxdw r1, [r8 + PAYER]
  ldxdw r2, [r8 + MARKER]
  ldxdw r3, [r6 + MARKER_LAMPORTS]
  ldxdw r4, [r2 + LAMPORTS]
  jge r4, r3, funded
  sub64 r3, r4
  call transfer_lamports
funded:
  meta META_0, MARKER, WRITE_SIGN
  stw [r8 + INPUT], SYSTEM_ALLOCATE
  stdw [r8 + INPUT + 4], MARKER_BYTES
  mov64 r2, 1
  mov64 r3, 12
  call call_system
  stw [r8 + INPUT], SYSTEM_ASSIGN
  mov64 r1, r8
  add64 r1, INPUT + 4
  mov64 r2, r9
  call copy_key
  mov64 r2, 1
  mov64 r3, 36
  call call_system
# Writes what is paid: r7 the marker.
  ldxdw r7, [r8 + MARKER]
  field PAYER, KEY
  mov64 r2, r1
  mov64 r1, r7
  add64 r1, MARKER_PAYER
  call copy_key
  ldxdw r2, [r6 + DEADLINE_WORD + LOW]
  be64 r2
  stxdw [r7 + MARKER_DEADLINE], r2
  ldxdw r2, [r6 + AMOUNT]
  stxdw [r7 + MARKER_AMOUNT], r2
  ldxdw r2, [r8 + PAID_MINT]
  mov64 r1, r7
  add64 r1, MARKER_MINT
  call copy_key
  ldxdw r2, [r8 + PAID_TO]
  mov64 r1, r7
  add64 r1, MARKER_RECIPIENT
  call copy_key
# Tokens: the token program checks that source, mint and destination belong together.
  field TOKEN_PROGRAM, KEY
  lddw r2, HEAP + SYSTEM_ID
  call compare_keys
  jeq r0, 0, deliver_native
  ldxdw r1, [r6 + AMOUNT]
  call transfer_tokens
  ja done

deliver_native:
  ldxdw r1, [r8 + AUTHORITY]
  ldxdw r2, [r8 + DESTINATION]
  ldxdw r3, [r6 + AMOUNT]
  call transfer_lamports
  ja done

sweep:
  ldxb r2, [r6 + TAG]
  jne r2, SWEEP, wrong_data
  jne r3, SWEEP_ACCOUNTS, wrong_account_count
# Only deliver gives this program an account with a payer in it.
  field SWEPT, OWNER
  mov64 r2, r9
  same_keys not_a_marker
  field SWEPT, MARKER_PAYER
  mov64 r2, r1
  field SWEPT_TO, KEY
  same_keys wrong_payer
# The margin is taken from the clock, since a deadline plus a margin could overflow.
  call read_clock
  sub64 r0, SWEEP_MARGIN
  ldxdw r1, [r8 + SWEPT]
  ldxdw r2, [r1 + MARKER_DEADLINE]
  jsle r0, r2, not_sweepable
# An account without lamports ends with the transaction.
  ldxdw r2, [r1 + LAMPORTS]
  stdw [r1 + LAMPORTS], 0
  ldxdw r1, [r8 + SWEPT_TO]
  ldxdw r3, [r1 + LAMPORTS]
  add64 r3, r2
  stxdw [r1 + LAMPORTS], r3
done:
  mov64 r0, 0
  exit

# r0 = 0 if the keys at r1 and r2 are equal
compare_keys:
  mov64 r0, 1
  ldxdw r3, [r1 + 0]
  ldxdw r4, [r2 + 0]
  jne r3, r4, compared
  ldxdw r3, [r1 + 8]
  ldxdw r4, [r2 + 8]
  jne r3, r4, compared
  ldxdw r3, [r1 + 16]
  ldxdw r4, [r2 + 16]
  jne r3, r4, compared
  ldxdw r3, [r1 + 24]
  ldxdw r4, [r2 + 24]
  jne r3, r4, compared
  mov64 r0, 0
compared:
  exit

# the key at r2 to r1
copy_key:
  ldxdw r3, [r2 + 0]
  stxdw [r1 + 0], r3
  ldxdw r3, [r2 + 8]
  stxdw [r1 + 8], r3
  ldxdw r3, [r2 + 16]
  stxdw [r1 + 16], r3
  ldxdw r3, [r2 + 24]
  stxdw [r1 + 24], r3
  exit

# r0 = the seconds of the chain's clock
read_clock:
  lddw r1, HEAP + CLOCK
  call sol_get_clock_sysvar
  ldxdw r0, [r8 + UNIX_TIME]
  exit

# r0 = 0 if the token program is Token or Token-2022
check_token_program:
  field TOKEN_PROGRAM, KEY
  mov64 r0, 0
  ldxdw r2, [r1 + 0]
  ldxdw r3, [r1 + 8]
  ldxdw r4, [r1 + 16]
  ldxdw r5, [r1 + 24]
  lddw r1, TOKEN_A
  jne r1, r2, check_token_2022
  lddw r1, TOKEN_B
  jne r1, r3, check_token_2022
  lddw r1, TOKEN_C
  jne r1, r4, check_token_2022
  lddw r1, TOKEN_D
  jeq r1, r5, token_program_checked
check_token_2022:
  mov64 r0, 1
  lddw r1, TOKEN_2022_A
  jne r1, r2, token_program_checked
  lddw r1, TOKEN_2022_B
  jne r1, r3, token_program_checked
  lddw r1, TOKEN_2022_C
  jne r1, r4, token_program_checked
  lddw r1, TOKEN_2022_D
  jne r1, r5, token_program_checked
  mov64 r0, 0
token_program_checked:
  exit

# r0 = 0 if the account at r1 is a token account of the token program that belongs to the key at r2
check_token_account:
  mov64 r6, r1
  mov64 r7, r2
  field TOKEN_PROGRAM, KEY
  mov64 r2, r6
  add64 r2, OWNER
  call compare_keys
  jne r0, 0, token_account_checked
  mov64 r0, 1
  ldxdw r1, [r6 + LENGTH]
  jlt r1, TOKEN_ACCOUNT_BYTES, token_account_checked
  mov64 r1, r6
  add64 r1, TOKEN_OWNER
  mov64 r2, r7
  call compare_keys
token_account_checked:
  exit

# r1 tokens from source to destination; the decimals are those that the mint says, which the token program compares
transfer_tokens:
  stb [r8 + INPUT], TOKEN_TRANSFER_CHECKED
  stxdw [r8 + INPUT + 1], r1
  ldxdw r1, [r8 + MINT]
  ldxb r1, [r1 + MINT_DECIMALS]
  stxb [r8 + INPUT + 9], r1
  meta META_0, SOURCE, WRITE
  meta META_1, MINT, READ
  meta META_2, DESTINATION, WRITE
  meta META_3, AUTHORITY, SIGN
  field TOKEN_PROGRAM, KEY
  mov64 r2, 4
  mov64 r3, 10
  ja call_program

# closes the source; its lamports go to the account with the key at r1
close_source:
  stb [r8 + INPUT], TOKEN_CLOSE
  stxdw [r8 + META_1], r1
  sth [r8 + META_1 + 8], WRITE
  meta META_0, SOURCE, WRITE
  meta META_2, AUTHORITY, SIGN
  field TOKEN_PROGRAM, KEY
  mov64 r2, 3
  mov64 r3, 1
  ja call_program

# r3 lamports from the account at r1 to the account at r2
transfer_lamports:
  add64 r1, KEY
  stxdw [r8 + META_0], r1
  sth [r8 + META_0 + 8], WRITE_SIGN
  add64 r2, KEY
  stxdw [r8 + META_1], r2
  sth [r8 + META_1 + 8], WRITE
  stw [r8 + INPUT], SYSTEM_TRANSFER
  stxdw [r8 + INPUT + 4], r3
  mov64 r2, 2
  mov64 r3, 12
# calls the System program with r2 accounts and r3 bytes of data
call_system:
  lddw r1, HEAP + SYSTEM_ID
# calls the program with the id at r1; a call that fails ends the transaction
call_program:
  stxdw [r8 + CALL_PROGRAM], r1
  stxdw [r8 + CALL_META_COUNT], r2
  stxdw [r8 + CALL_LENGTH], r3
  lddw r1, HEAP + CALL
  lddw r2, HEAP + INFOS
  ldxdw r3, [r8 + COUNT]
  lddw r4, HEAP + SIGNERS
  mov64 r5, 1
  call sol_invoke_signed_c
  exit

  refuse wrong_account_count, 7001
  refuse wrong_data, 7002
  refuse wrong_authority, 7003
  refuse wrong_rent_receiver, 7004
  refuse wrong_token_program, 7005
  refuse wrong_source, 7006
  refuse wrong_destination, 7007
  refuse not_attested, 7008
  refuse too_early, 7009
  refuse vault_did_not_sign, 7010
  refuse payer_did_not_sign, 7011
  refuse too_late, 7012
  refuse wrong_marker, 7013
  refuse already_delivered, 7014
  refuse not_a_marker, 7015
  refuse wrong_payer, 7016
  refuse not_sweepable, 7017
  refuse rent_kept_unsigned, 7018
  refuse wrong_op, 7019
  refuse too_little, 7020
