// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {TestToken} from "./TestToken.sol";

/// @title TestDollar
/// @notice A dollar token for local networks that takes signatures like USDC 2.2: EIP-3009 and EIP-2612, of keys and of
///         ERC-1271 wallets, and with a list of blocked holders. Anyone can mint and block.
contract TestDollar is TestToken, EIP712 {
    bytes32 private constant TRANSFER_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 private constant RECEIVE_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 private constant CANCEL_TYPEHASH = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    /// @dev EIP-3009.
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    /// @dev EIP-3009.
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    /// @notice The version of the EIP-712 domain, as in USDC.
    string public constant version = "2";

    /// @notice EIP-3009: whether a nonce is used or canceled.
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;
    /// @notice EIP-2612: the nonce of the next permit.
    mapping(address owner => uint256) public nonces;
    /// @notice Whether a holder can neither send nor receive.
    mapping(address holder => bool) public isBlacklisted;

    constructor(string memory name_, string memory symbol_, uint8 decimals_)
        TestToken(name_, symbol_, decimals_)
        EIP712(name_, "2")
    {}

    /// @notice Blocks a holder. Anyone may call.
    /// @param holder The holder.
    function blacklist(address holder) external {
        isBlacklisted[holder] = true;
    }

    /// @notice Allows a holder again. Anyone may call.
    /// @param holder The holder.
    function unBlacklist(address holder) external {
        isBlacklisted[holder] = false;
    }

    /// @notice EIP-3009, for a receiver that calls itself, with a signature as bytes.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        require(to == msg.sender, "caller must be the payee");
        bytes32 terms = keccak256(abi.encode(RECEIVE_TYPEHASH, from, to, value, validAfter, validBefore, nonce));
        _useAuthorization(from, nonce, validAfter, validBefore, terms, signature);
        _transfer(from, to, value);
    }

    /// @notice EIP-3009, for a receiver that calls itself.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice EIP-3009, for any caller, with a signature as bytes.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        bytes32 terms = keccak256(abi.encode(TRANSFER_TYPEHASH, from, to, value, validAfter, validBefore, nonce));
        _useAuthorization(from, nonce, validAfter, validBefore, terms, signature);
        _transfer(from, to, value);
    }

    /// @notice EIP-3009, for any caller.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice EIP-3009: makes a nonce unusable.
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        require(!authorizationState[authorizer][nonce], "authorization is used or canceled");
        _requireSigned(authorizer, keccak256(abi.encode(CANCEL_TYPEHASH, authorizer, nonce)), signature);
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    /// @notice EIP-2612, with a signature as bytes.
    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes memory signature) public {
        require(block.timestamp <= deadline, "permit is expired");
        bytes32 terms = keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, nonces[owner]++, deadline));
        _requireSigned(owner, terms, signature);
        _approve(owner, spender, value);
    }

    /// @notice EIP-2612.
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        permit(owner, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    /// @notice The hash of the EIP-712 domain: name, version "2", chain id and this contract.
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function _useAuthorization(
        address from,
        bytes32 nonce,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 terms,
        bytes memory signature
    ) private {
        require(block.timestamp > validAfter, "authorization is not yet valid");
        require(block.timestamp < validBefore, "authorization is expired");
        require(!authorizationState[from][nonce], "authorization is used or canceled");
        _requireSigned(from, terms, signature);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
    }

    function _requireSigned(address signer, bytes32 terms, bytes memory signature) private view {
        bytes32 digest = _hashTypedDataV4(terms);
        bool isSigned = signer.code.length == 0
            ? ECDSA.recover(digest, signature) == signer
            : _accepts(signer, digest, signature);
        require(isSigned, "invalid signature");
    }

    /// @dev As USDC 2.2: the whole answer of a contract is copied, however long it is.
    function _accepts(address signer, bytes32 digest, bytes memory signature) private view returns (bool) {
        bytes memory call = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        (bool ok, bytes memory answer) = signer.staticcall(call);
        return ok && answer.length >= 32
            && abi.decode(answer, (bytes32)) == bytes32(IERC1271.isValidSignature.selector);
    }

    function _update(address from, address to, uint256 value) internal override {
        require(!isBlacklisted[from] && !isBlacklisted[to], "account is blacklisted");
        super._update(from, to, value);
    }
}
