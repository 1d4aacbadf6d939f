// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "solady/src/utils/EIP712.sol";
import {IGeoEscrow} from "../interfaces/IGeoEscrow.sol";
import {CappedCallLib} from "../libraries/CappedCallLib.sol";
import {GeoOpLib} from "../libraries/GeoOpLib.sol";
import {SlotLib} from "../libraries/SlotLib.sol";

/// @title EscrowBase
/// @notice The records of the escrow: which op has which state, who has a credit, and who may call.
abstract contract EscrowBase is IGeoEscrow, EIP712 {
    /// @dev A word in a struct, so that its storage slot is computed once for a read and a write.
    struct Slot { uint256 word; }

    /// @dev Gas limit for reading a token's balance.
    uint256 internal constant BALANCE_GAS = 50_000;
    /// @dev Gas limits of a wallet that is paid in native coin, and of a token's transfer.
    uint256 private constant NATIVE_PUSH_GAS = 50_000;
    uint256 internal constant TOKEN_PUSH_GAS = 200_000;
    /// @dev 60,000 cover the call itself (at most 36,600, to a new account) or the credit (25,000).
    uint256 internal constant PUSH_GAS_FLOOR = TOKEN_PUSH_GAS * 64 / 63 + 60_000;

    /// @inheritdoc IGeoEscrow
    address public immutable VAULT;
    /// @inheritdoc IGeoEscrow
    address public immutable TREASURY;
    /// @dev This contract, also where an op's address runs its code.
    address private immutable SELF = address(this);

    /// @inheritdoc IGeoEscrow
    mapping(address owner => mapping(address token => uint256)) public credits;
    /// @inheritdoc IGeoEscrow
    mapping(address owner => uint256) public nonces;

    mapping(uint256 key => Slot) internal _slots;
    /// @dev 1 during a call. A whole word, because a packed flag costs a read with each write.
    uint256 private transient _entered;

    modifier nonReentrant() {
        if (_entered != 0) revert Reentrancy();
        _entered = 1;
        _;
        _entered = 0;
    }

    modifier onlyTreasury() {
        if (msg.sender != TREASURY) revert NotTreasury();
        _;
    }

    modifier onlySelf() {
        if (msg.sender != SELF) revert NotSelf();
        _;
    }

    constructor(address vault, address treasury) {
        if (vault == address(0) || treasury == address(0)) revert ZeroAddress();
        VAULT = vault;
        TREASURY = treasury;
    }

    /// @inheritdoc IGeoEscrow
    function hashOp(Op calldata op, address locker) public view returns (bytes32) {
        return _hashTypedData(GeoOpLib.hashOp(op, locker));
    }

    /// @inheritdoc IGeoEscrow
    function ringOf(address locker) external view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), locker));
    }

    /// @inheritdoc IGeoEscrow
    function slot(address locker, uint256 position) public view returns (uint256) {
        if (position > type(uint32).max) revert IndexOutOfRange();
        return _slots[SlotLib.key(locker, position)].word;
    }

    /// @inheritdoc IGeoEscrow
    function slots(address[] calldata lockers, uint256[] calldata positions)
        external
        view
        returns (uint256[] memory words)
    {
        words = new uint256[](lockers.length);
        for (uint256 i; i < lockers.length; ++i) words[i] = slot(lockers[i], positions[i]);
    }

    /// @dev Moves an op from LOCKED to its outcome, once.
    function _close(address locker, uint256 index, bytes32 hash, uint256 outcome) internal {
        Slot storage place = _slots[SlotLib.key(locker, index)];
        uint256 word = SlotLib.stateless(index, hash);
        if (place.word != word | SlotLib.LOCKED) revert NotLocked();
        place.word = word | outcome;
    }

    /// @dev Pays, or credits a refused payment. The gas suffices for both, so a caller cannot force the credit.
    function _push(address token, address to, uint256 amount) internal {
        if (gasleft() < PUSH_GAS_FLOOR) revert LowGas();
        if (CappedCallLib.tryPay(token, to, amount, NATIVE_PUSH_GAS, TOKEN_PUSH_GAS)) return;
        _credit(to, token, amount);
    }

    function _credit(address owner, address token, uint256 amount) internal {
        credits[owner][token] += amount;
        emit Credited(owner, token, amount);
    }

    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("GeoEscrow", "1");
    }
}
